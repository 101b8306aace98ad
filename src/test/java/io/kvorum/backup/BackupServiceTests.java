package io.kvorum.backup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.backup.BackupException.Kind;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class BackupServiceTests {

	@TempDir
	private Path root;

	@Test
	void listsDoNotWaitForABackupThatIsUnderWay() throws IOException {
		Path data = Files.createDirectory(this.root.resolve("data"));
		List<Runnable> works = new ArrayList<>();
		BackupService service = new BackupService(
				new BackupSettings(this.root.resolve("backups"), data, 3, 0, Integer.MAX_VALUE), new CopiedStore(),
				new BackupNode(), new SteeredTime(), BackupEvents.NONE, Schedulers.fromExecutor(works::add),
				Schedulers.immediate());
		service.create(BackupName.of("one")).subscribe();

		assertThat(Now.of(service.list())).isEmpty();
		assertThat(Now.of(service.list())).isEmpty();
		assertThatExceptionOfType(BackupException.class).isThrownBy(() -> Now.of(service.verify(BackupName.of("one"))))
			.matches(ex -> ex.kind() == Kind.BUSY);
		works.forEach(Runnable::run);
		assertThat(Now.of(service.list())).hasSize(1);
	}

}
