"""Support vector machines: duals with box constraints, in memory and streamed."""
