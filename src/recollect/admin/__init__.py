"""What those who look after a memory do: gardens, quarantine, keys, trust. One module each.

Every act needs a permission or a role, happens in one transaction, and is noted in the audit log.
"""
