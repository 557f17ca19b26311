package io.github.distributedlock.backend;

import java.util.EnumSet;
import java.util.Set;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;

/**
 * A kind of lock that not every store offers.
 */
public enum LockFeature {

	/**
	 * Several owners at a time, in {@link LockMode#SHARED}.
	 */
	SHARED("SHARED"),

	/**
	 * Requests that are served in the order of their arrival. Takes a
	 * {@link WaiterQueue}.
	 */
	FAIR("fair"),

	/**
	 * Fencing tokens.
	 */
	FENCING("fenced");

	private final String asked;

	LockFeature(String asked) {
		this.asked = asked;
	}

	/**
	 * The word of a request that asks for it.
	 */
	String asked() {
		return this.asked;
	}

	/**
	 * What a request asks for.
	 * @param request the request
	 * @return the features that it takes, mostly none
	 */
	public static Set<LockFeature> of(LockRequest request) {
		Set<LockFeature> features = EnumSet.noneOf(LockFeature.class);
		if (request.mode() == LockMode.SHARED) {
			features.add(SHARED);
		}
		if (request.fair()) {
			features.add(FAIR);
		}
		if (request.fenced()) {
			features.add(FENCING);
		}
		return features;
	}

}
