package io.github.distributedlock.autoconfigure;

import java.util.Arrays;
import java.util.List;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;

import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Starts a whole Spring Boot application that cannot start.
 */
final class FailedStart {

	private static final String REPORT = "APPLICATION FAILED TO START";

	private FailedStart() {
	}

	/**
	 * Starts an application, and returns the report of the failure.
	 * @param output the captured output
	 * @param application the configuration
	 * @param properties as {@code name=value}
	 */
	static String report(CapturedOutput output, Class<?> application, String... properties) {
		return report(output, List.of(application), properties);
	}

	static String report(CapturedOutput output, List<Class<?>> application, String... properties) {
		String[] arguments = Arrays.stream(properties).map((property) -> "--" + property).toArray(String[]::new);
		assertThatException().isThrownBy(
				() -> new SpringApplicationBuilder(application.toArray(Class<?>[]::new)).web(WebApplicationType.NONE)
					.bannerMode(Banner.Mode.OFF)
					.run(arguments)
					.close());
		String all = output.getAll();
		int start = all.lastIndexOf(REPORT);
		return (start >= 0) ? all.substring(start) : "no report in: " + all;
	}

}
