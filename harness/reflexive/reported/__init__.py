"""What users of other loops reported, as named cases, and the breakers that stop such loops."""
