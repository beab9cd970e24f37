"""Annotation studies: several raters label cases blind to each other, and reconcile what they dispute."""
