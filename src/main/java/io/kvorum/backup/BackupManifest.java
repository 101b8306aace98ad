package io.kvorum.backup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.kvorum.backup.BackupException.Kind;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The description of a backup, in the file that is written last. It has a checksum of
 * itself, which reveals damage to it.
 *
 * @param format {@value #FORMAT}; backups of a later format are refused
 * @param name of the backup and of its directory
 * @param made time of the backup in ISO 8601; the backup has every write acknowledged
 * before
 * @param version of Kvorum
 * @param identity of the store, as {@code /v0/status} shows it
 * @param self the replica address of the node
 * @param nodes its cluster as {@code kvorum.cluster.nodes} has it; bare addresses in
 * format 1
 * @param factor replicas of a key by default
 * @param layout the number of the layout of the cluster; null in format 1
 * @param converged whether the node had converged with its peers, just before the backup
 * @param sequence the number that the engine gave the last write in the backup
 * @param files all files, sorted by name
 * @param checksum SHA-256 of all the components before
 */
public record BackupManifest(int format, String name, String made, String version, String identity, String self,
		List<String> nodes, int factor, @Nullable Long layout, boolean converged, long sequence,
		List<BackedUpFile> files, String checksum) {

	/** The format of backups that this version writes. It reads all before, too. */
	public static final int FORMAT = 2;

	private static final int WITHOUT_LAYOUT = 1;

	static final String FILE = "manifest.json";

	private static final long MAX_BYTES = 64 << 20;

	private static final JsonMapper JSON = JsonMapper.builder()
		.enable(SerializationFeature.INDENT_OUTPUT)
		.enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
		.build();

	public BackupManifest {
		nodes = List.copyOf(nodes);
		files = List.copyOf(files);
	}

	/** A copy with the checksum filled in. */
	BackupManifest sealed() {
		return new BackupManifest(this.format, this.name, this.made, this.version, this.identity, this.self, this.nodes,
				this.factor, this.layout, this.converged, this.sequence, this.files, expectedChecksum());
	}

	/**
	 * The checksum of all other components, as lines of a text. It does not depend on the
	 * layout of the JSON.
	 */
	private String expectedChecksum() {
		List<Object> lines = new ArrayList<>(List.of(this.format, this.name, this.made, this.version, this.identity,
				this.self, this.factor, this.converged, this.sequence, this.nodes.size()));
		lines.addAll(this.nodes);
		if (this.layout != null) {
			lines.add(this.layout);
		}
		this.files.forEach(file -> lines.addAll(List.of(file.sha256(), file.bytes(), file.name())));
		return Checksums
			.of(String.join("\n", lines.stream().map(Object::toString).toList()).getBytes(StandardCharsets.UTF_8));
	}

	/** The size of all files in bytes. */
	public long bytes() {
		return this.files.stream().mapToLong(BackedUpFile::bytes).sum();
	}

	Instant instant() {
		return Instant.parse(this.made);
	}

	Origin origin() {
		return new Origin(this.self, this.nodes, this.factor, (this.layout != null) ? this.layout : Origin.UNKNOWN,
				this.version);
	}

	byte[] toJson() {
		return JSON.writeValueAsBytes(this);
	}

	/**
	 * Reads the manifest of a backup.
	 * @throws BackupException if there is none, or it cannot be used
	 */
	static BackupManifest read(Path backup) {
		Path file = backup.resolve(FILE);
		if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
			throw new BackupException(Kind.DAMAGED,
					"%s is no backup, or no complete one: it has no file %s.".formatted(backup, FILE));
		}
		try {
			if (Files.size(file) > MAX_BYTES) {
				throw damaged(file, "it has more than %d bytes".formatted(MAX_BYTES));
			}
			return parse(Files.readAllBytes(file), file);
		}
		catch (IOException | JacksonException ex) {
			throw damaged(file, "it cannot be read: " + firstLine(ex));
		}
	}

	private static BackupManifest parse(byte[] bytes, Path file) {
		JsonNode json = JSON.readTree(bytes);
		int format = json.path("format").asInt(0);
		if (format > FORMAT) {
			throw new BackupException(Kind.DAMAGED,
					"%s was made by a later version: it has format %d, and this version knows formats up to %d. Use that version."
						.formatted(file, format, FORMAT));
		}
		try {
			BackupManifest manifest = JSON.treeToValue(json, BackupManifest.class);
			manifest.requireSense(file);
			return manifest;
		}
		catch (NullPointerException | DateTimeException ex) {
			throw damaged(file, "something is missing in it");
		}
	}

	private void requireSense(Path file) {
		boolean hasLayout = this.layout != null;
		if (hasLayout == (this.format == WITHOUT_LAYOUT) || this.format < WITHOUT_LAYOUT
				|| !this.checksum.equals(expectedChecksum())) {
			throw damaged(file, "its checksum does not match");
		}
		instant();
		Set<String> names = new HashSet<>();
		for (BackedUpFile each : this.files) {
			if (!each.hasSafeName() || !names.add(each.name()) || each.bytes() < 0) {
				throw damaged(file, "it names a file that no backup has");
			}
		}
	}

	private static BackupException damaged(Path file, String how) {
		return new BackupException(Kind.DAMAGED, "The manifest %s is damaged: %s.".formatted(file, how));
	}

	private static String firstLine(Exception ex) {
		return String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
	}

}
