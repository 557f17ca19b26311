package io.github.distributedlock.docs;

// tag::jobs[]
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@Component
public class Jobs {

	private final Archive archive;

	public Jobs(Archive archive) {
		this.archive = archive;
	}

	@Scheduled(cron = "0 0 3 * * *")
	@OncePerCluster
	public void sendStatements() {
		this.archive.publish("statements");
	}

}
// end::jobs[]
