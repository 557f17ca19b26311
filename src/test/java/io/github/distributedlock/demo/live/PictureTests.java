package io.github.distributedlock.demo.live;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

import static org.assertj.core.api.Assertions.assertThat;

class PictureTests {

	@Test
	void showsTheLinesInColour() throws Exception {
		String svg = Picture.of(List.of("a < b & c", "", "JVM 1 is paused."));
		NodeList lines = texts(svg);
		assertThat(lines.getLength()).isEqualTo(2);
		assertThat(lines.item(0).getTextContent()).isEqualTo("a < b & c");
		assertThat(lines.item(1).getTextContent()).isEqualTo("JVM 1 is paused.");
		assertThat(svg).contains("<tspan fill=\"#d29922\">paused</tspan>");
	}

	@Test
	void thatOfTheReadmeIsOfThisProgram() throws Exception {
		List<String> frame = Frame.of(Looks.look(State.KILLED, 1, Looks.OF_JVM_2), List.of(), "");
		NodeList lines = texts(Files.readString(Path.of("src/docs/live-view.svg")));
		List<String> shown = IntStream.range(0, lines.getLength())
			.mapToObj((number) -> lines.item(number).getTextContent())
			.toList();
		assertThat(shown).contains(frame.get(2), frame.get(7), Command.HELP);
	}

	private static NodeList texts(String svg) throws Exception {
		Document document = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
		return document.getElementsByTagName("text");
	}

}
