"""Program repair without a model: the policy `search` and the patcher that writes its edits."""
