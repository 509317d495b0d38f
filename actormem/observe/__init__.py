"""What a runtime tells of itself, for those who watch over it: Prometheus, OpenTelemetry, logs. None of it holds words.

    import anyio, actormem, logging
    from actormem.observe.logs import StepLog

    async def main() -> None:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        async with actormem.open(None) as runtime:
            with runtime.observe(StepLog()):
                await runtime.remember("Ada likes tea.", user="ada")

    anyio.run(main)

Each back-end is a file of its own, and needs its library alone: `metrics` (`pip install 'actormem[prometheus]'`),
`tracing` (`'actormem[otel]'`), `logs` (none). An observer is a function that `Runtime.observe` calls with one frozen
value of `actormem.core.observed` after each step.
"""
