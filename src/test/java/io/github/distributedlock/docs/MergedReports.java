package io.github.distributedlock.docs;

// tag::execute[]
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockRequest;

import org.springframework.stereotype.Service;

@Service
public class MergedReports {

	private final DistributedLock lock;

	public MergedReports(DistributedLock lock) {
		this.lock = lock;
	}

	// Several keys, all or none. The value and the IOException reach the caller.
	public String merge(List<Path> files) throws IOException {
		LockRequest request = LockRequest.of(files.stream().map((file) -> "file:" + file).toList())
			.waitTime(Duration.ofSeconds(2))
			.maxHoldTime(Duration.ofMinutes(1))
			.name("merge-reports");
		return this.lock.execute(request, () -> {
			StringBuilder merged = new StringBuilder();
			for (Path file : files) {
				merged.append(Files.readString(file));
			}
			return merged.toString();
		});
	}

}
// end::execute[]
