-- Afterwards either the owner has the lock and its instance does not wait, or it waits.
return acquire()
