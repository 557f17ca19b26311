package io.github.distributedlock.protocol;

/**
 * An owner token: one request of one thread of one JVM.
 */
record Owner(int jvm, int thread, int request) {

	@Override
	public String toString() {
		return "J" + this.jvm + ".t" + this.thread + "#" + this.request;
	}

}
