package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LettuceCommandTests {

	private final LettuceCommand command = new LettuceCommand(CommandType.GET,
			new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey("k".getBytes(StandardCharsets.UTF_8)));

	@Test
	void whatWasGivenUpIsNotSent() {
		assertThat(this.command.giveUp()).isTrue();
		assertThat(sent()).contains("PING").doesNotContain("GET");
		assertThat(this.command.giveUp()).isTrue();
	}

	@Test
	void whatWasSentIsNotGivenUpAndMayBeRedirected() {
		assertThat(sent()).contains("GET");
		assertThat(this.command.giveUp()).isFalse();
		assertThat(sent()).contains("GET");
	}

	private String sent() {
		ByteBuf buffer = Unpooled.buffer();
		this.command.encode(buffer);
		return buffer.toString(StandardCharsets.UTF_8);
	}

}
