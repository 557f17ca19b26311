package io.github.distributedlock.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;

import org.springframework.stereotype.Service;

// tag::by-hand[]
@Service
public class Reports {

	private final DistributedLock lock;

	public Reports(DistributedLock lock) {
		this.lock = lock;
	}

	// Waits 5 s, then throws LockNotAcquiredException.
	public void write(Path file, Supplier<String> report) throws IOException {
		try (LockHandle handle = this.lock.acquire("nightly-report")) {
			String text = report.get();
			handle.checkHeld(); // before a step that cannot be undone
			Files.writeString(file, text);
		}
	}

	// Does not wait.
	public boolean writeUnlessBusy(Path file, Supplier<String> report) throws IOException {
		return this.lock.tryRun("nightly-report", () -> Files.writeString(file, report.get()));
	}

}
// end::by-hand[]
