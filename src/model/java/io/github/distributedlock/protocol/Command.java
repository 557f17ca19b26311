package io.github.distributedlock.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A command to the server.
 *
 * @param kind the kind of step
 * @param owner the owner that sends the command; of a withdrawal, only the JVM matters
 * @param from the owner that has the key that is passed on
 */
record Command(Kind kind, Owner owner, @Nullable Owner from) {

	enum Kind {

		/**
		 * {@code SET NX PX}, or, with a fencing token, {@code acquire.lua} without
		 * registering.
		 */
		ACQUIRE,

		/**
		 * {@code acquire.lua}.
		 */
		ACQUIRE_OR_REGISTER,

		/**
		 * {@code pass.lua} while the slice lasts.
		 */
		PASS,

		/**
		 * {@code pass.lua} after it.
		 */
		PASS_OR_YIELD,

		/**
		 * {@code release.lua}.
		 */
		RELEASE,

		/**
		 * {@code release.lua} with an instance that withdraws.
		 */
		WITHDRAW

	}

	Command(Kind kind, Owner owner) {
		this(kind, owner, null);
	}

	boolean mayTakeTheLockFor(Owner owner) {
		return this.owner.equals(owner) && this.kind != Kind.RELEASE && this.kind != Kind.WITHDRAW;
	}

}
