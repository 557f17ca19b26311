package io.github.distributedlock.docs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.springframework.stereotype.Service;

/**
 * Where the examples leave something behind.
 */
@Service
public class Archive {

	private final List<String> published = new CopyOnWriteArrayList<>();

	public List<String> published() {
		return this.published;
	}

	public void publish(String report) {
		this.published.add(report);
	}

}
