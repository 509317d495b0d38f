"""What the model sees: put together in `assembly`, with `notes` and summary `blocks`, kept within its budget by
`fitting` and `shorten`, and told by the `trace`."""
