package io.github.distributedlock.aop;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compiles classes as the build of this project would not: without parameter names, or in
 * packages of libraries that are not here.
 */
final class Sources {

	private Sources() {
	}

	static Class<?> compile(Path directory, String wanted, Map<String, String> sources) {
		try {
			List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", directory.toString(), "-classpath",
					System.getProperty("java.class.path")));
			for (Map.Entry<String, String> source : sources.entrySet()) {
				Path file = directory.resolve(source.getKey().replace('.', '/') + ".java");
				Files.createDirectories(file.getParent());
				Files.writeString(file, source.getValue());
				arguments.add(file.toString());
			}
			JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
			assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new))).isZero();
			URL[] urls = { directory.toUri().toURL() };
			return new URLClassLoader(urls, Sources.class.getClassLoader()).loadClass(wanted);
		}
		catch (IOException | ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
