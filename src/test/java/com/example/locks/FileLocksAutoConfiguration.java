package com.example.locks;

import java.nio.file.Path;

import io.github.distributedlock.backend.LockBackendFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Adds the store {@code files} to an application, which chooses the store by
 * {@code distributed-lock.backend=files} and says where the files are by
 * {@code distributed-lock.stores.files.folder}.
 */
@AutoConfiguration
public class FileLocksAutoConfiguration {

	@Bean
	LockBackendFactory filesLockBackendFactory() {
		return (settings) -> {
			String folder = settings.values().get("folder");
			if (folder == null) {
				throw new IllegalArgumentException("set distributed-lock.stores.files.folder to a folder that all JVMs"
						+ " of this machine share");
			}
			return new FileLocks(Path.of(folder));
		};
	}

}
