/** The storage engine on RocksDB; the only package that knows it. */
@NullMarked
package io.kvorum.storage.rocksdb;

import org.jspecify.annotations.NullMarked;
