package com.example.locks;

import java.nio.file.Path;

import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store in files keeps the contract of every store.
 */
class FileLocksTests extends LockBackendContractTests {

	@TempDir
	static Path folder;

	@Override
	protected FileLocks backend(String store) {
		return new FileLocks(folder.resolve(store));
	}

	// Waiters ask, and those that have died are silent.
	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

}
