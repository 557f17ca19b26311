package io.github.distributedlock.demo.live;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class CommandTests {

	@ParameterizedTest
	@CsvSource({ "p1,p,1", "r 2,r,2", "'  K3 ',k,3", "s1,s,1", "w,w,0", "Q,q,0" })
	void isALetterAndMaybeAJvm(String line, char letter, int jvm) {
		assertThat(Command.parse(line)).isEqualTo(new Command(letter, jvm));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "x1", "k", "k0", "k4", "k12", "1k", "q1", "kill 1" })
	void isNothingElse(String line) {
		assertThatIllegalArgumentException().isThrownBy(() -> Command.parse(line))
			.withMessage("'" + line + "' is no command: enter p, r, k or s and a JVM from 1 to 3, or w, or q.");
	}

	@Test
	void theHelpNamesEachLetter() {
		assertThat(Command.HELP).contains("p1 ", "r1 ", "k1 ", "s1 ", "w ", "q ").hasSizeLessThanOrEqualTo(Frame.WIDTH);
	}

}
