package io.github.distributedlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate of this machine that nobody else has signed, with its key, as files. Made
 * by the JDK's keytool for two days.
 *
 * @param certificate the certificate
 * @param key the key to it
 */
public record SelfSigned(Path certificate, Path key) {

	private static final String ALIAS = "redis";

	private static final char[] PASSWORD = "changeit".toCharArray();

	/**
	 * Makes one.
	 * @return the certificate, in files that vanish with the JVM
	 */
	public static SelfSigned create() {
		try {
			Path directory = Files.createTempDirectory("lock-tls");
			directory.toFile().deleteOnExit();
			Path store = deleted(directory.resolve("store.p12"));
			SelfSigned made = new SelfSigned(deleted(directory.resolve("certificate.pem")),
					deleted(directory.resolve("key.pem")));
			keytool(store, "-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=localhost", "-ext",
					"SAN=dns:localhost,ip:127.0.0.1", "-validity", "2", "-storetype", "PKCS12");
			keytool(store, "-exportcert", "-rfc", "-file", made.certificate.toString());
			byte[] key = KeyStore.getInstance(store.toFile(), PASSWORD).getKey(ALIAS, PASSWORD).getEncoded();
			Files.writeString(made.key, "-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder().encodeToString(key)
					+ "\n-----END PRIVATE KEY-----\n");
			return made;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Path deleted(Path file) {
		file.toFile().deleteOnExit();
		return file;
	}

	private static void keytool(Path store, String command, String... options) throws IOException {
		ProcessBuilder builder = new ProcessBuilder(
				Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), command, "-alias", ALIAS,
				"-keystore", store.toString(), "-storepass", new String(PASSWORD));
		builder.command().addAll(List.of(options));
		Process process = builder.redirectErrorStream(true).start();
		String said = new String(process.getInputStream().readAllBytes());
		try {
			if (!process.waitFor(1, TimeUnit.MINUTES) || process.exitValue() != 0) {
				throw new IllegalStateException("keytool failed: " + said);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Sockets that trust this certificate and no other.
	 * @return where to get them
	 */
	public SSLSocketFactory sockets() {
		try (var file = Files.newInputStream(this.certificate)) {
			KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
			trusted.load(null, null);
			trusted.setCertificateEntry(ALIAS, CertificateFactory.getInstance("X.509").generateCertificate(file));
			TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
			trust.init(trusted);
			SSLContext context = SSLContext.getInstance("TLS");
			context.init(null, trust.getTrustManagers(), null);
			return context.getSocketFactory();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
