package io.kvorum.testing.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Whether the operations on one key appear to happen one after the other, each at an
 * instant between its invocation and its end: the search of Wing and Gong, "Testing and
 * Verifying Concurrent Objects", 1993, as Lowe, "Testing for linearizability", 2017, does
 * it: <i>just in time</i> and with memory. Operations are taken in the order of time; a
 * <i>configuration</i> is what the register may hold now and which of the open operations
 * have happened; only when an operation ends are those that are open put in an order that
 * has it happen.
 * <p>
 * That a value is put once keeps configurations few, also in histories of many thousand
 * operations with as many unknown ends. Each rule leaves out only what can be replaced in
 * any order that explains the history:
 * <ol>
 * <li>A put of unknown end whose value nobody read need not have happened. One whose
 * value was read happened before the first such read ended. So of all operations only
 * deletes stay open for ever, and they are alike: it is enough to count them.
 * <li>A get happens as soon as the register holds what it found.
 * <li>A value that will be found by a get not yet invoked is not replaced.
 * <li>Where a value is replaced, open puts that no later get finds happen just before,
 * but for those that expire: they may have to happen later, to leave nothing.
 * <li>Of two open deletes the one that ends first happens first.
 * <li>A value that the condition of a write names is replaced by that write, if it
 * happened.
 * </ol>
 * A write whose condition was not met is a get of what its client was told. An unknown
 * write whose condition names a value may happen while that value is there, at no cost.
 * Where a condition asks for any value, a put of unknown end that nobody read may have
 * been that value, once. Then rule 4 does not hold.
 * <p>
 * A put that expires is there until some instant and gone from a later one on; between
 * them a get may find either. One of unknown end that nobody read counts as a delete of
 * unknown end, which has the condition of that put, and begins when it may have expired.
 * <p>
 * No history that can be explained is refused. Of some that cannot, nothing wrong is
 * found: where a condition asks for any value and puts expire, or where one put of
 * unknown end that nobody read would have to both expire and have been replaced.
 */
public final class Linearizability {

	private static final int NOTHING = -1;

	private static final int MAX_OPEN = Long.SIZE;

	/** Those that matter, in the order of their invocations. */
	private final Operation[] operations;

	/** Until when each has happened; {@code Long.MAX_VALUE} is never. */
	private final long[] ends;

	/** For a get the put that it found, for a put itself; or NOTHING. */
	private final int[] puts;

	/** For a write the put that its condition names, or NOTHING. */
	private final int[] matches;

	/** For a put the write that names it and that happened, or NOTHING. */
	private final int[] replacements;

	/** Whether an unknown delete names a put. */
	private final boolean[] mayBeDeleted;

	/** When the value of a put is invoked to be found for the last time. */
	private final long[] lastReads;

	/** Whether a condition asks for any value. */
	private final boolean asksForAny;

	/** The operation open in each slot, or NOTHING. */
	private final int[] slots = new int[MAX_OPEN];

	/** The slots of puts and deletes that are open. */
	private long openWrites;

	private long openGets;

	/** How many deletes of unknown end have been invoked. */
	private int endless;

	/** How many puts of unknown end that nobody read have been invoked. */
	private int spare;

	/** The puts that an invoked delete of unknown end names. */
	private final BitSet deletable = new BitSet();

	private Set<Configuration> configurations = new HashSet<>();

	private Linearizability(List<Operation> relevant, Map<Integer, Integer> putOfValue) {
		int count = relevant.size();
		this.operations = relevant.toArray(Operation[]::new);
		this.ends = new long[count];
		this.puts = new int[count];
		this.matches = new int[count];
		this.replacements = new int[count];
		this.mayBeDeleted = new boolean[count];
		this.asksForAny = relevant.stream().anyMatch(Linearizability::asksForAny);
		this.lastReads = new long[count];
		Arrays.fill(this.replacements, NOTHING);
		Arrays.fill(this.lastReads, Long.MIN_VALUE);
		Arrays.fill(this.slots, NOTHING);
		for (int i = 0; i < count; i++) {
			Operation operation = this.operations[i];
			this.ends[i] = (operation.outcome() == Outcome.DONE) ? operation.endedAt() : Long.MAX_VALUE;
			this.puts[i] = putOfValue.getOrDefault(operation.value(), NOTHING);
			Integer named = named(operation);
			this.matches[i] = (named != null) ? putOfValue.getOrDefault(named, NOTHING) : NOTHING;
		}
		boolean isSettled = false;
		while (!isSettled) {
			isSettled = true;
			for (int i = 0; i < count; i++) {
				int put = (this.operations[i].kind() == Kind.GET) ? this.puts[i] : this.matches[i];
				if (put != NOTHING && this.ends[i] < this.ends[put]) {
					this.ends[put] = this.ends[i];
					isSettled = false;
				}
			}
		}
		for (int i = 0; i < count; i++) {
			boolean isGet = this.operations[i].kind() == Kind.GET;
			int put = isGet ? this.puts[i] : this.matches[i];
			if (put != NOTHING && this.ends[i] == Long.MAX_VALUE) {
				this.mayBeDeleted[put] = true;
			}
			else if (put != NOTHING) {
				this.lastReads[put] = Math.max(this.lastReads[put], this.operations[i].invokedAt());
				if (!isGet) {
					this.replacements[put] = i;
				}
			}
		}
		this.configurations.add(new Configuration(NOTHING, 0, 0, 0));
	}

	/** The value that the condition of a write names, or null. */
	private static @Nullable Integer named(Operation operation) {
		Condition condition = operation.condition();
		return (condition != null) ? condition.value() : null;
	}

	private static boolean asksForAny(Operation operation) {
		return Condition.PRESENT.equals(operation.condition());
	}

	/**
	 * Checks the history of a key that has no value at first.
	 * @return null where it is linearizable
	 */
	public static @Nullable Violation check(List<Operation> operations) {
		List<Operation> history = new ArrayList<>(operations);
		history.sort(Comparator.comparingLong(Operation::invokedAt));
		String why = fault(history);
		return (why != null) ? violation(history, why) : null;
	}

	/** What is wrong with a history in the order of invocations, or null. */
	private static @Nullable String fault(List<Operation> history) {
		Map<Integer, Operation> writers = writers(history);
		Set<Integer> found = new HashSet<>();
		for (Operation operation : history) {
			if (operation.outcome() == Outcome.NOT_MET && isMet(operation)) {
				return "a write was refused though its condition held of what it was told";
			}
			Integer value = operation.found();
			if (value != null && value != Operation.ABSENT) {
				Operation writer = writers.get(value);
				if (writer == null || isSaidNotToHaveHappened(writer) || writer.invokedAt() > operation.endedAt()
						|| writer.expiredAt() < operation.invokedAt()) {
					return whyNotReadable(writer, operation);
				}
				addFound(value, writers, found);
			}
		}
		boolean asksForAny = history.stream().anyMatch(Linearizability::asksForAny);
		boolean expires = history.stream().anyMatch(operation -> operation.mayExpireAt() != Operation.NEVER);
		Predicate<Operation> mayBeAny = put -> asksForAny && (expires || mayFillNothing(put));
		List<Operation> relevant = history.stream()
			.flatMap(operation -> simplified(operation, writers, found, mayBeAny))
			.filter(operation -> matters(operation, found, mayBeAny))
			.sorted(Comparator.comparingLong(Operation::invokedAt))
			.toList();
		Map<Integer, Integer> putOfValue = new HashMap<>();
		for (int i = 0; i < relevant.size(); i++) {
			if (relevant.get(i).kind() == Kind.PUT) {
				putOfValue.put(relevant.get(i).value(), i);
			}
		}
		return new Linearizability(relevant, putOfValue).isExplained() ? null
				: "no order of the operations explains the marked one";
	}

	private static boolean isMet(Operation refused) {
		Condition condition = refused.condition();
		return condition != null && condition.isMetBy(refused.current());
	}

	private static boolean isSaidNotToHaveHappened(Operation write) {
		return write.outcome() == Outcome.NOT_APPLIED || write.outcome() == Outcome.NOT_MET;
	}

	/** A value that was there, and those that had to be there before. */
	private static void addFound(int value, Map<Integer, Operation> writers, Set<Integer> found) {
		Integer next = value;
		while (next != null && found.add(next)) {
			Operation writer = writers.get(next);
			next = (writer != null) ? named(writer) : null;
		}
	}

	/**
	 * Finds the first answer that cannot be explained: up to any earlier one all is well.
	 */
	private static Violation violation(List<Operation> history, String why) {
		List<Operation> answers = new ArrayList<>(history.stream().filter(Operation::isAnswered).toList());
		answers.sort(Comparator.comparingLong(Operation::endedAt));
		int wellUpTo = 0;
		int wrongAt = answers.size();
		while (wrongAt - wellUpTo > 1) {
			int middle = (wellUpTo + wrongAt) / 2;
			if (fault(known(history, answers.subList(0, middle))) == null) {
				wellUpTo = middle;
			}
			else {
				wrongAt = middle;
			}
		}
		Operation offending = answers.get(wrongAt - 1);
		String whyThere = fault(known(history, answers.subList(0, wrongAt)));
		return new Violation(history, offending, (whyThere != null) ? whyThere : why);
	}

	/** The history as it was known when only these operations had been answered. */
	private static List<Operation> known(List<Operation> history, List<Operation> answered) {
		long now = answered.isEmpty() ? Long.MIN_VALUE : answered.getLast().endedAt();
		Set<Operation> done = new HashSet<>(answered);
		List<Operation> known = new ArrayList<>();
		for (Operation operation : history) {
			if (!operation.isAnswered() || done.contains(operation)) {
				known.add(operation);
			}
			else if (operation.invokedAt() <= now) {
				known.add(operation.ending(Outcome.UNKNOWN));
			}
		}
		return known;
	}

	private static Map<Integer, Operation> writers(List<Operation> history) {
		Map<Integer, Operation> writers = new HashMap<>();
		for (Operation operation : history) {
			if (operation.kind() == Kind.PUT && writers.put(operation.value(), operation) != null) {
				throw new IllegalArgumentException("the value %d is put twice".formatted(operation.value()));
			}
		}
		return writers;
	}

	private static String whyNotReadable(@Nullable Operation writer, Operation get) {
		if (writer == null) {
			return "a value was read that nobody put";
		}
		if (writer.expiredAt() < get.invokedAt()) {
			return "a value was read that had expired";
		}
		return isSaidNotToHaveHappened(writer) ? "a value was read whose put was said not to be applied"
				: "a value was read before its put was invoked";
	}

	/** The same in terms of gets, and of deletes that nothing else is known of. */
	private static Stream<Operation> simplified(Operation operation, Map<Integer, Operation> writers,
			Set<Integer> found, Predicate<Operation> mayBeAny) {
		if (operation.outcome() == Outcome.NOT_MET) {
			return Stream.of(new Operation(operation.client(), Kind.GET, operation.current(), Outcome.DONE,
					operation.invokedAt(), operation.endedAt()));
		}
		if (operation.outcome() == Outcome.UNKNOWN && operation.kind() == Kind.DELETE) {
			return Stream.of(simplifiedDelete(operation, writers, found));
		}
		if (!withoutUse(operation, found)) {
			return Stream.of(operation);
		}
		Operation expiry = simplifiedDelete(operation, writers, found);
		return mayBeAny.test(operation) ? Stream.of(operation, expiry) : Stream.of(expiry);
	}

	/**
	 * The delete of a value that nobody else saw deletes what was there before that. So
	 * does a put that nobody read, once it has expired.
	 */
	private static Operation simplifiedDelete(Operation write, Map<Integer, Operation> writers, Set<Integer> found) {
		long from = (write.kind() == Kind.PUT) ? Math.max(write.invokedAt(), write.mayExpireAt()) : write.invokedAt();
		Operation first = write;
		Set<Integer> passed = new HashSet<>();
		for (Integer named = named(first); named != null && !found.contains(named)
				&& passed.add(named); named = named(first)) {
			Operation writer = writers.get(named);
			if (writer == null || writer.outcome() != Outcome.UNKNOWN || writer.expiredAt() < first.invokedAt()) {
				break;
			}
			first = writer;
			from = Math.max(from, writer.invokedAt());
		}
		return new Operation(write.client(), Kind.DELETE, Operation.ABSENT, Outcome.UNKNOWN, from,
				Math.max(from, write.endedAt()))
			.provided(asksForAny(first) ? null : first.condition());
	}

	/** Whether it is a put that nobody read and that may have hidden another one. */
	private static boolean withoutUse(Operation operation, Set<Integer> found) {
		return operation.kind() == Kind.PUT && operation.outcome() == Outcome.UNKNOWN
				&& operation.mayExpireAt() != Operation.NEVER && !found.contains(operation.value());
	}

	private static boolean matters(Operation operation, Set<Integer> found, Predicate<Operation> mayBeAny) {
		return switch (operation.outcome()) {
			case DONE -> true;
			case UNKNOWN -> switch (operation.kind()) {
				case DELETE -> !Condition.ABSENT.equals(operation.condition());
				case PUT -> found.contains(operation.value()) || mayBeAny.test(operation);
				case GET -> false;
			};
			case NOT_APPLIED, NOT_MET -> false;
		};
	}

	/** Whether a put may happen where there is nothing. */
	private static boolean mayFillNothing(Operation put) {
		return put.condition() == null || put.condition().equals(Condition.ABSENT);
	}

	private boolean isExplained() {
		int[] byEnd = byEnd();
		int invoked = 0;
		for (int ending : byEnd) {
			// Operations that touch at an instant are concurrent: invocations go first.
			while (invoked < this.operations.length && this.operations[invoked].invokedAt() <= this.ends[ending]) {
				invoke(invoked++);
			}
			if (!end(ending)) {
				return false;
			}
		}
		return true;
	}

	/** Those that end, in the order of time. */
	private int[] byEnd() {
		List<Integer> indices = new ArrayList<>(this.operations.length);
		for (int i = 0; i < this.operations.length; i++) {
			if (this.ends[i] != Long.MAX_VALUE) {
				indices.add(i);
			}
		}
		indices.sort(Comparator.comparingLong(index -> this.ends[index]));
		return indices.stream().mapToInt(Integer::intValue).toArray();
	}

	private void invoke(int index) {
		if (this.ends[index] == Long.MAX_VALUE) {
			invokeEndless(index);
			return;
		}
		int slot = Long.numberOfTrailingZeros(~(this.openWrites | this.openGets));
		if (slot == MAX_OPEN) {
			throw new IllegalArgumentException("more than %d operations are open at once".formatted(MAX_OPEN));
		}
		this.slots[slot] = index;
		if (this.operations[index].isWrite()) {
			this.openWrites |= 1L << slot;
			return;
		}
		this.openGets |= 1L << slot;
		replaceAll(configuration -> (this.puts[index] == configuration.holds) ? configuration.with(1L << slot)
				: configuration);
	}

	private void invokeEndless(int index) {
		Operation operation = this.operations[index];
		if (operation.kind() == Kind.PUT) {
			this.spare++;
		}
		else if (operation.condition() == null) {
			this.endless++;
		}
		else if (this.matches[index] != NOTHING) {
			this.deletable.set(this.matches[index]);
		}
	}

	/**
	 * Whether a get may find by then what it found, where the register holds this put.
	 */
	private boolean isFoundBy(int get, int put, long latest) {
		return this.puts[get] == put || (this.puts[get] == NOTHING && isNothing(put, latest));
	}

	/** Whether there is nothing by then where the register holds this put. */
	private boolean isNothing(int put, long latest) {
		return put == NOTHING || this.operations[put].mayExpireAt() <= latest;
	}

	private void replaceAll(UnaryOperator<Configuration> change) {
		List<Configuration> before = List.copyOf(this.configurations);
		this.configurations.clear();
		before.forEach(configuration -> this.configurations.add(change.apply(configuration)));
	}

	/** Keeps the configurations in which an operation has happened by its end. */
	private boolean end(int index) {
		long bit = 1L << slotOf(index);
		replaceAll(configuration -> configuration.with(getsOf(configuration.holds, this.ends[index])));
		if (this.configurations.stream().allMatch(configuration -> (configuration.happened & bit) != 0)) {
			replaceAll(configuration -> configuration.without(bit));
		}
		else {
			search(index, bit);
		}
		this.openWrites &= ~bit;
		this.openGets &= ~bit;
		return !this.configurations.isEmpty();
	}

	private void search(int index, long bit) {
		Set<Configuration> next = new HashSet<>();
		Set<Configuration> seen = new HashSet<>(this.configurations);
		Deque<Configuration> open = new ArrayDeque<>(this.configurations);
		while (!open.isEmpty()) {
			Configuration configuration = open.pop();
			if ((configuration.happened & bit) != 0) {
				next.add(configuration.without(bit));
			}
			else if (mayBeReplaced(configuration.holds, index)) {
				for (Configuration successor : successors(configuration, index)) {
					if (seen.add(successor)) {
						open.push(successor);
					}
				}
			}
		}
		this.configurations = (this.endless > 0) ? thrifty(next) : next;
	}

	/** Of those alike, the one that has used the fewest deletes of unknown end. */
	private static Set<Configuration> thrifty(Set<Configuration> configurations) {
		Map<Configuration, Integer> used = new HashMap<>();
		for (Configuration configuration : configurations) {
			used.merge(new Configuration(configuration.holds, configuration.happened, 0, configuration.spareUsed),
					configuration.endlessUsed, Math::min);
		}
		Set<Configuration> thrifty = HashSet.newHashSet(used.size());
		used.forEach(
				(alike, least) -> thrifty.add(new Configuration(alike.holds, alike.happened, least, alike.spareUsed)));
		return thrifty;
	}

	private int slotOf(int index) {
		int slot = 0;
		while (this.slots[slot] != index || ((this.openWrites | this.openGets) & (1L << slot)) == 0) {
			slot++;
		}
		return slot;
	}

	/** Whether no get that has yet to be invoked at this end finds the value. */
	private boolean mayBeReplaced(int put, int ending) {
		return put == NOTHING || this.lastReads[put] <= this.ends[ending];
	}

	private List<Configuration> successors(Configuration configuration, int ending) {
		List<Configuration> successors = new ArrayList<>();
		int holds = configuration.holds;
		int firstDelete = NOTHING;
		boolean isNamed = holds != NOTHING && this.replacements[holds] != NOTHING;
		long latest = this.ends[ending];
		long before = configuration.happened | passing(configuration, ending);
		for (long left = this.openWrites & ~configuration.happened; left != 0; left &= left - 1) {
			int slot = Long.numberOfTrailingZeros(left);
			int index = this.slots[slot];
			if (isNamed && this.replacements[holds] != index) {
				continue;
			}
			Operation operation = this.operations[index];
			if (operation.condition() != null) {
				addConditional(successors, configuration, index, 1L << slot, latest);
			}
			else if (operation.kind() == Kind.PUT) {
				successors.add(holding(index, before | 1L << slot, configuration, latest));
			}
			else if (firstDelete == NOTHING || this.ends[index] < this.ends[this.slots[firstDelete]]) {
				firstDelete = slot;
			}
		}
		if (isNamed) {
			return successors;
		}
		if (firstDelete != NOTHING) {
			successors.add(holding(NOTHING, before | 1L << firstDelete, configuration, latest));
		}
		else if (configuration.endlessUsed < this.endless && (holds != NOTHING || before != configuration.happened)) {
			successors.add(holding(NOTHING, before, configuration, latest).usingEndless());
		}
		if (holds != NOTHING && this.deletable.get(holds)) {
			successors.add(holding(NOTHING, configuration.happened, configuration, latest));
		}
		return successors;
	}

	/** Adds what follows if a write with a condition happens, if it may. */
	private void addConditional(List<Configuration> successors, Configuration configuration, int index, long bit,
			long latest) {
		Operation operation = this.operations[index];
		Configuration next = holding((operation.kind() == Kind.PUT) ? index : NOTHING, configuration.happened | bit,
				configuration, latest);
		if (isMet(configuration.holds, index, latest)) {
			successors.add(next);
		}
		else if (asksForAny(operation) && configuration.spareUsed < this.spare) {
			successors.add(next.usingSpare());
		}
	}

	/**
	 * Whether the condition of a write may hold by then, where the register holds this
	 * put.
	 */
	private boolean isMet(int holds, int write, long latest) {
		Operation operation = this.operations[write];
		if (Condition.ABSENT.equals(operation.condition())) {
			return isNothing(holds, latest);
		}
		boolean isThere = holds != NOTHING && this.operations[holds].expiredAt() >= operation.invokedAt();
		return isThere && (asksForAny(operation) || this.matches[write] == holds);
	}

	/**
	 * The open puts, with their gets, that may happen before another write replaces them.
	 */
	private long passing(Configuration configuration, int ending) {
		long passing = 0;
		for (long left = this.openWrites & ~configuration.happened; left != 0; left &= left - 1) {
			int index = this.slots[Long.numberOfTrailingZeros(left)];
			if (mayPass(index) && mayBeReplaced(index, ending)) {
				passing |= Long.lowestOneBit(left) | getsOf(index, this.ends[ending]);
			}
		}
		return passing;
	}

	/** Whether a put may happen before another write though it is not the last one. */
	private boolean mayPass(int index) {
		Operation operation = this.operations[index];
		return operation.kind() == Kind.PUT && operation.condition() == null
				&& operation.mayExpireAt() == Operation.NEVER && !this.asksForAny && this.replacements[index] == NOTHING
				&& !this.mayBeDeleted[index];
	}

	private Configuration holding(int put, long happened, Configuration before, long latest) {
		return new Configuration(put, happened | getsOf(put, latest), before.endlessUsed, before.spareUsed);
	}

	/**
	 * The open gets that find what this put wrote, or nothing if that has expired by
	 * then.
	 */
	private long getsOf(int put, long latest) {
		long gets = 0;
		for (long left = this.openGets; left != 0; left &= left - 1) {
			if (isFoundBy(this.slots[Long.numberOfTrailingZeros(left)], put, latest)) {
				gets |= Long.lowestOneBit(left);
			}
		}
		return gets;
	}

	/**
	 * What may be.
	 *
	 * @param holds the put whose value the register holds, or NOTHING
	 * @param happened the slots of the open operations that have happened
	 * @param endlessUsed how many of the deletes of unknown end have happened
	 * @param spareUsed how many of the puts that nobody read have been any value
	 */
	private record Configuration(int holds, long happened, int endlessUsed, int spareUsed) {

		Configuration with(long bit) {
			return new Configuration(this.holds, this.happened | bit, this.endlessUsed, this.spareUsed);
		}

		Configuration without(long bit) {
			return new Configuration(this.holds, this.happened & ~bit, this.endlessUsed, this.spareUsed);
		}

		Configuration usingEndless() {
			return new Configuration(this.holds, this.happened, this.endlessUsed + 1, this.spareUsed);
		}

		Configuration usingSpare() {
			return new Configuration(this.holds, this.happened, this.endlessUsed, this.spareUsed + 1);
		}

	}

}
