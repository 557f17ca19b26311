package io.github.distributedlock.protocol;

/**
 * A key that a JVM owns, for one hold or for several, one after the other: {@code
 * Ownership} and {@code HandOver}.
 *
 * @param owner the owner with the token
 * @param vacant whether the key is left to the current turn, and nobody has it
 * @param handedOn how often the key was handed on in this slice
 * @param unsettled whether a command of an earlier holder was never answered, and may
 * have been carried out
 */
record OwnedKey(Owner owner, boolean vacant, int handedOn, boolean unsettled) {

	/**
	 * How often a key is handed on before other JVMs come first.
	 */
	static final int SLICE = 1;

	/**
	 * Returns the key in the state in which the holder leaves the key to the next
	 * request.
	 */
	OwnedKey left(boolean unsettled) {
		return new OwnedKey(this.owner, true, this.handedOn, this.unsettled || unsettled);
	}

	/**
	 * Returns the key in the state after the next request took over.
	 */
	OwnedKey taken() {
		return new OwnedKey(this.owner, false, this.handedOn + 1, this.unsettled);
	}

	boolean isSliceOver() {
		return this.handedOn >= SLICE;
	}

}
