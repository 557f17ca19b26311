package io.github.distributedlock.backend.redis.protocol;

/**
 * What is sent to the server.
 *
 * @param kind which step
 * @param owner for whom; of a withdrawal, only the JVM matters
 */
record Command(Kind kind, Owner owner) {

	enum Kind {

		/**
		 * {@code SET NX PX}, or, to get a fencing token with it,
		 * {@code acquire-or-register.lua} without registering.
		 */
		ACQUIRE,

		/**
		 * {@code acquire-or-register.lua}.
		 */
		ACQUIRE_OR_REGISTER,

		/**
		 * {@code release.lua}.
		 */
		RELEASE,

		/**
		 * {@code release.lua} with an instance that withdraws.
		 */
		WITHDRAW

	}

	boolean mayTakeTheLockFor(Owner owner) {
		return this.owner.equals(owner) && (this.kind == Kind.ACQUIRE || this.kind == Kind.ACQUIRE_OR_REGISTER);
	}

}
