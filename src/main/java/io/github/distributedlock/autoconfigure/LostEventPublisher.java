package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockListener;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Makes the loss of a lock an event of the application.
 */
final class LostEventPublisher implements LockListener {

	private final ApplicationEventPublisher publisher;

	LostEventPublisher(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void onEvent(LockEvent event) {
		if (event instanceof LockEvent.Lost lost) {
			this.publisher.publishEvent(lost);
		}
	}

}
