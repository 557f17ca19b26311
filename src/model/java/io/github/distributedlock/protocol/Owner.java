package io.github.distributedlock.protocol;

/**
 * An owner token: one request of one thread of one JVM.
 */
record Owner(int jvm, int thread, int request) {

	/**
	 * Reads a {@linkplain #token() token}.
	 */
	static Owner of(String token) {
		int colon = token.indexOf(':');
		int number = token.indexOf('#');
		return new Owner(jvm(token.substring(0, colon)), Integer.parseInt(token, colon + 1, number, 10),
				Integer.parseInt(token, number + 1, token.length(), 10));
	}

	/**
	 * Returns the owner token, which is all that the server knows of the owner.
	 */
	String token() {
		return instance(this.jvm) + ":" + this.thread + "#" + this.request;
	}

	static String instance(int jvm) {
		return "J" + jvm;
	}

	static int jvm(String instance) {
		return Integer.parseInt(instance, 1, instance.length(), 10);
	}

	@Override
	public String toString() {
		return "J" + this.jvm + ".t" + this.thread + "#" + this.request;
	}

}
