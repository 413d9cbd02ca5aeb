"""What people see, a module for the command of the same name; `elements` is shared by all."""
