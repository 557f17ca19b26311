package io.github.distributedlock.benchmark;

import java.util.Map;

import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * The cost of the annotation, in time and memory, by JMH.
 */
final class AnnotatedCase {

	private static final String BYTES_PER_CALL = "gc.alloc.rate.norm";

	private static final Map<String, String> LABELS = Map.of("annotated", AnnotatedCall.ANNOTATED, "plain",
			AnnotatedCall.PLAIN, "byHand", AnnotatedCall.BY_HAND, "listenedTo", AnnotatedCall.LISTENED_TO,
			"recorderOff", AnnotatedCall.RECORDER_OFF, "recorderOn", AnnotatedCall.RECORDER_ON, "unobserved",
			AnnotatedCall.UNOBSERVED);

	void run(Bench bench) {
		for (int round = 0; round < bench.options().size(3, 1); round++) {
			for (RunResult result : Jmh
				.run(Jmh.options(AnnotatedCall.class, bench.options()).addProfiler(GCProfiler.class))) {
				String label = LABELS.get(result.getPrimaryResult().getLabel());
				bench.results().add(Figure.CALL, label, 1, result.getPrimaryResult().getScore());
				bench.results().add(Figure.CALL_ALLOCATION, label, 1, bytes(result));
			}
		}
	}

	private static double bytes(RunResult result) {
		Result<?> bytes = result.getSecondaryResults().get(BYTES_PER_CALL);
		if (bytes == null) {
			throw new IllegalStateException(
					"JMH measured no " + BYTES_PER_CALL + " but " + result.getSecondaryResults().keySet());
		}
		return bytes.getScore();
	}

}
