package io.github.distributedlock.autoconfigure;

import java.util.Arrays;

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
	 * What Spring Boot tells the user.
	 * @param output where it tells it
	 * @param application the configuration
	 * @param properties as {@code name=value}
	 * @return the report
	 */
	static String report(CapturedOutput output, Class<?> application, String... properties) {
		String[] arguments = Arrays.stream(properties).map((property) -> "--" + property).toArray(String[]::new);
		assertThatException().isThrownBy(() -> new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.run(arguments)
			.close());
		String all = output.getAll();
		int start = all.lastIndexOf(REPORT);
		return (start >= 0) ? all.substring(start) : "no report in: " + all;
	}

}
