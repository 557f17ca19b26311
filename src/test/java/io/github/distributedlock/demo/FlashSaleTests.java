package io.github.distributedlock.demo;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("thorough")
class FlashSaleTests {

	private static final int UNITS = 90;

	@ParameterizedTest
	@ValueSource(strings = { Server.REDIS, Server.POSTGRESQL })
	void sellsEachUnitOnceUnderTheLock(String store) throws Exception {
		ByteArrayOutputStream output = new ByteArrayOutputStream();
		Progress progress = new Progress(new PrintStream(output, true, StandardCharsets.UTF_8), false);
		Report report;
		try (FlashSale sale = new FlashSale(store, UNITS, progress)) {
			report = sale.run();
		}
		assertThat(report.toString().lines()).last()
			.asString()
			.as(() -> output + report.toString())
			.matches(
					"RESULT unlocked_oversold=[1-9]\\d* locked_sold=90 locked_oversold=0 takeover_ms=\\d+ violations=0");
		assertThat(report.isExact()).isTrue();
		assertThat(report.killed().sales()).as("units sold by each JVM, the first of them killed")
			.startsWith(UNITS / 10 - 1)
			.allMatch((sales) -> sales > 0);
		assertThat(output.toString(StandardCharsets.UTF_8)).contains("Round 3 of 3: JVM 1 is dead")
			.contains("[########################] 90 of 90 units");
	}

}
