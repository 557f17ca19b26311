package io.github.distributedlock.docs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.LockHandle;

import org.springframework.stereotype.Service;

/**
 * Where the examples leave something behind: what was published, and under which locks.
 */
@Service
public class Archive {

	private final List<String> published = new CopyOnWriteArrayList<>();

	public List<String> published() {
		return this.published;
	}

	public String collect() {
		return "under " + LockHandle.current().map(LockHandle::keys).orElse(List.of());
	}

	public void publish(String report) {
		this.published.add(report);
	}

}
