package io.kvorum.storage.rocksdb;

import java.nio.file.Path;

import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.WriteFailed;
import io.kvorum.storage.StoreOpenException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.Status.Code;
import org.rocksdb.Status.SubCode;

import static org.assertj.core.api.Assertions.assertThat;

class FailuresTests {

	private static final Path PATH = Path.of("/data");

	@ParameterizedTest
	@ValueSource(strings = { "While lock file: /data/LOCK: Resource temporarily unavailable",
			"lock hold by current process, acquire time 1 acquiring thread 2: /data/LOCK: No locks available" })
	void aLockThatIsTakenIsAnotherProcess(String message) {
		assertThat(opening(Code.IOError, message))
			.hasMessage("The data directory /data is in use by another process: it holds the lock /data/LOCK.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "block checksum mismatch: stored = 1, computed = 2",
			"Bad block handle in /data/lock /000012.sst" })
	void corruptionIsDamageWhateverWordsItUses(String message) {
		assertThat(opening(Code.Corruption, message)).hasMessage("The data directory /data is damaged: " + message);
	}

	@Test
	void aSectorThatCannotBeReadIsDamage() {
		String message = "While pread offset 4096 len 4101: /data/000012.sst: Input/output error";

		assertThat(opening(Code.IOError, message)).hasMessage("The data directory /data is damaged: " + message);
	}

	@Test
	void anythingElseIsSaidAsItIs() {
		assertThat(opening(Code.IOError, "while open a file for lock: /data/LOCK: Permission denied"))
			.hasMessageStartingWith("The data directory /data cannot be opened: while open a file")
			.extracting(StoreOpenException::action)
			.asString()
			.contains("writable");
	}

	@Test
	void aWriteThatMeetsAFullDiskMayBeStoredAndMayBeTriedAgain() {
		StorageException failure = writing(SubCode.NoSpace);

		assertThat(failure).isInstanceOf(NoSpace.class);
		assertThat(failure.mayHaveBeenStored()).isTrue();
		assertThat(failure.mayRetry()).isTrue();
	}

	@Test
	void aWriteThatMeetsAnyOtherErrorMayBeStored() {
		StorageException failure = writing(SubCode.None);

		assertThat(failure).isInstanceOf(WriteFailed.class);
		assertThat(failure.mayHaveBeenStored()).isTrue();
	}

	@Test
	void anErrorWithoutAStatusIsAnError() {
		assertThat(Failures.writing(new RocksDBException("?"))).isInstanceOf(WriteFailed.class);
		assertThat(Failures.isNotInMemory(new RocksDBException("?"))).isFalse();
		assertThat(Failures.opening(PATH, new RocksDBException("?"))).hasMessageContaining("cannot be opened");
	}

	private static StoreOpenException opening(Code code, String message) {
		return Failures.opening(PATH, new RocksDBException(message, new Status(code, SubCode.None, message)));
	}

	private static StorageException writing(SubCode subCode) {
		return Failures.writing(new RocksDBException("no", new Status(Code.IOError, subCode, "no")));
	}

}
