"""Steps that several backends share."""
