package io.github.distributedlock.test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;

/**
 * Who may talk to a server, and how: everybody, or a user with a password beside the
 * default user, who has another; in plain text, or by TLS alone.
 *
 * @param user the name of an application's user, empty if there is none
 * @param password its password
 * @param certificate what the server proves by who it is, if it speaks TLS
 */
public record Access(String user, String password, Optional<SelfSigned> certificate) {

	/** Everybody, in plain text. */
	public static final Access OPEN = new Access("", "", Optional.empty());

	private static final String ADMIN_PASSWORD = "admins-only";

	/**
	 * A user with a password, in plain text.
	 * @param user the name of the user, who may do everything with the keys of locks
	 * @param password the password
	 * @return the access
	 */
	public static Access of(String user, String password) {
		return new Access(user, password, Optional.empty());
	}

	/**
	 * The same by TLS alone.
	 * @param certificate the server's certificate
	 * @return the access
	 */
	public Access encrypted(SelfSigned certificate) {
		return new Access(this.user, this.password, Optional.of(certificate));
	}

	/**
	 * The lines that give a server this access.
	 * @param port its port
	 * @return the lines
	 */
	List<String> settings(int port) {
		List<String> settings = new ArrayList<>();
		if (this.certificate.isPresent()) {
			SelfSigned own = this.certificate.get();
			settings.addAll(List.of("port 0", "tls-port " + port, "tls-cert-file " + own.certificate(),
					"tls-key-file " + own.key(), "tls-ca-cert-file " + own.certificate(), "tls-auth-clients no",
					"tls-replication yes", "tls-cluster yes"));
		}
		else {
			settings.add("port " + port);
		}
		if (!this.user.isEmpty()) {
			settings.add("user default on >" + ADMIN_PASSWORD + " ~* &* +@all");
			settings.add("user " + this.user + " on >" + this.password + " ~lock* &* +@all");
		}
		return settings;
	}

	/**
	 * The lines by which a server gets into others of the same access, to replicate.
	 * @return the lines
	 */
	List<String> replication() {
		return this.user.isEmpty() ? List.of() : List.of("masteruser default", "masterauth " + ADMIN_PASSWORD);
	}

	/**
	 * The lines by which a Sentinel gets into servers of this access.
	 * @param master the name of their master
	 * @return the lines
	 */
	List<String> watching(String master) {
		return this.user.isEmpty() ? List.of() : List.of("sentinel auth-user " + master + " default",
				"sentinel auth-pass " + master + " " + ADMIN_PASSWORD);
	}

	/**
	 * The lines by which Sentinels of this access get into each other.
	 * @return the lines
	 */
	List<String> talking() {
		return this.user.isEmpty() ? List.of()
				: List.of("sentinel sentinel-user default", "sentinel sentinel-pass " + ADMIN_PASSWORD);
	}

	JedisClientConfig admin(int timeoutMillis) {
		DefaultJedisClientConfig.Builder builder = DefaultJedisClientConfig.builder().timeoutMillis(timeoutMillis);
		if (!this.user.isEmpty()) {
			builder.password(ADMIN_PASSWORD);
		}
		this.certificate.ifPresent((own) -> builder.ssl(true).sslSocketFactory(own.sockets()));
		return builder.build();
	}

}
