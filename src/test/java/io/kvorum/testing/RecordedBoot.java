package io.kvorum.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The run of the operating system that a store recorded, as its rows have it. Of a store
 * that nobody has open.
 */
public final class RecordedBoot {

	private static final byte[] ROW = "record:boot".getBytes(UTF_8);

	private RecordedBoot() {
	}

	/** Empty where the node that had it open has stopped. */
	public static String in(Path data) {
		return with(data, (db, meta) -> new String(db.get(meta, ROW), UTF_8));
	}

	/** Makes it a store that was open when the system ended. */
	public static void setToAnother(Path data) {
		with(data, (db, meta) -> {
			db.put(meta, ROW, "another run".getBytes(UTF_8));
			return "";
		});
	}

	private static String with(Path data, Work work) {
		List<ColumnFamilyHandle> columns = new ArrayList<>();
		try (Options none = new Options()) {
			List<ColumnFamilyDescriptor> names = RocksDB.listColumnFamilies(none, data.toString())
				.stream()
				.map(ColumnFamilyDescriptor::new)
				.toList();
			int meta = names.stream().map(name -> new String(name.getName(), UTF_8)).toList().indexOf("meta");
			try (DBOptions options = new DBOptions();
					RocksDB db = RocksDB.open(options, data.toString(), names, columns)) {
				String result = work.on(db, columns.get(meta));
				columns.forEach(ColumnFamilyHandle::close);
				return result;
			}
		}
		catch (RocksDBException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Does something with the rows of a node. */
	private interface Work {

		String on(RocksDB db, ColumnFamilyHandle meta) throws RocksDBException;

	}

}
