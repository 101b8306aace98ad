package io.kvorum.backup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;

import io.kvorum.storage.Checkpoints;
import org.jspecify.annotations.Nullable;

/** A store of a few files, whose copies do what a test says. */
final class CopiedStore implements Checkpoints {

	static final String TABLE = "000012.sst";

	/** Beside what RocksDB writes of itself when a copy is looked at. */
	final Map<String, String> files = new TreeMap<>(
			Map.of("CURRENT", "MANIFEST-000005\n", TABLE, "a table", "MANIFEST-000005", "manifest", "000013.log", ""));

	/** Happens while the copy is made, once its files are there. */
	Runnable meanwhile = () -> {
	};

	/** Happens when a restored copy is whole, before its files are moved. */
	Runnable whenAdopted = () -> {
	};

	/** What a table is said to have where it is read. */
	long tableBytes = 7;

	volatile @Nullable String damage;

	/** What the copies that were adopted have recorded. */
	@Nullable Map<String, byte[]> adopted;

	@Override
	public void checkpoint(Path directory) {
		try {
			Files.createDirectory(directory);
			for (Map.Entry<String, String> file : this.files.entrySet()) {
				Files.writeString(directory.resolve(file.getKey()), file.getValue());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.meanwhile.run();
	}

	@Override
	public long verify(Path directory, LongConsumer pace) {
		pace.accept(this.tableBytes);
		if (this.damage != null) {
			throw new CheckpointException(this.damage, new IOException());
		}
		try {
			Files.writeString(directory.resolve("LOG"), "of the engine");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return 42;
	}

	@Override
	public void adopt(Path directory, UnaryOperator<Map<String, byte[]>> records) {
		this.adopted = records.apply(Map.of("name", new byte[] { 1 }));
		try {
			Files.writeString(directory.resolve("000014.log"), "adopted");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.whenAdopted.run();
	}

}
