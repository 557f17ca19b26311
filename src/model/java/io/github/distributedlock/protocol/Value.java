package io.github.distributedlock.protocol;

/**
 * The content of the lock's key.
 */
sealed interface Value {

	default boolean isOf(Owner owner) {
		return this instanceof Owned owned && owned.owner().equals(owner);
	}

	default boolean isReservedFor(int jvm) {
		return this instanceof Reserved reserved && reserved.jvm() == jvm;
	}

	/**
	 * An owner token.
	 *
	 * @param owner the owner
	 * @param doomed whether the lease runs out any moment, because the owner's own
	 * deadline, which is earlier, has passed
	 */
	record Owned(Owner owner, boolean doomed) implements Value {
	}

	/**
	 * {@code reserved:<instance>}.
	 *
	 * @param jvm the only JVM that may turn the reservation into an owner token
	 */
	record Reserved(int jvm) implements Value {
	}

}
