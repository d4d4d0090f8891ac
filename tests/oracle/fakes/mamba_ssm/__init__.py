"""Stands in for mamba-ssm: what its module registers, and no kernel. See the README of the fakes."""
