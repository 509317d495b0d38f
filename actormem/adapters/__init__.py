"""What stands behind the ports: one file for each outside dependency, imported only when it is asked for."""
