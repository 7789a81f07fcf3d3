/** Faults that are injected into the core one at a time: the simulation must detect each as a violation of its law. */

/** One fault. */
export interface Mutation {
  readonly law: string
  /** What goes wrong, as the end of the test title "L5 is violated when …". */
  readonly name: string
  /** Path from the root of the repository. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** The first seed, and the distance of the next ones. Default: every seed from 0 on. */
  readonly from?: number
  readonly step?: number
}

export const mutations: ReadonlyArray<Mutation> = [
  {
    law: "L1",
    name: "commands that follow the shutdown of a conversation get no answer",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "if (this.over) refuse(command, this.lost)",
    replace: "if (this.over) continue",
  },
  {
    law: "L2",
    name: "no event is emitted for input that joins a turn",
    file: "packages/core/src/decider/Decide.ts",
    find: "events: inputEvents(turnId, { ...submission, items }),",
    replace: "events: inputEvents(turnId, { ...submission, items }).slice(0, 0),",
  },
  {
    law: "L2",
    name: "a receipt names another turn than the one that starts",
    file: "packages/core/src/decider/TurnStart.ts",
    find: 'receipt: { id, disposition: "started" },',
    replace: 'receipt: { id: `${id}-`, disposition: "started" },',
  },
  {
    law: "L3",
    name: "an event precedes session_configured",
    file: "packages/core/src/decider/InitialEvents.ts",
    find: '{ id: "", msg: sessionConfigured(id, settings) },',
    replace:
      '{ id: "", msg: { type: "background_event", message: "hello" } },\n  { id: "", msg: sessionConfigured(id, settings) },',
  },
  {
    law: "L3",
    name: "conversations that are being created do not count towards the limit",
    file: "packages/core/src/manager/directory/Creation.ts",
    find: "entries.size + this.creating >= maxConversations",
    replace: "[...entries.values()].filter((e) => !e.isHidden).length >= maxConversations",
  },
  {
    law: "L3",
    name: "a page starts with the last item of the previous page",
    file: "packages/core/src/store/MemoryStore.ts",
    find: "newestFirst(query.after, meta) < 0)",
    replace: "newestFirst(query.after, meta) < (query.limit > 1 ? 1 : 0))",
  },
  {
    law: "L4",
    name: "two consecutive events have the same number",
    file: "packages/core/src/decider/State.ts",
    find: "seq: isEphemeral(msg) ? next - 1 : next++,",
    replace: 'seq: isEphemeral(msg) ? next - 1 : msg.type === "raw_response_item" ? next : next++,',
  },
  {
    law: "L4",
    name: "a listener that fell behind loses the first event",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: 'this.state = "lagged"',
    replace: 'this.state = "lagged"\n      this.next++',
  },
  {
    law: "L4",
    name: "events that a replay covered are delivered again",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "this.left = none\n      subscription.unsubscribe()",
    replace: "this.left = subscription.pollUpTo(Infinity)\n      subscription.unsubscribe()",
  },
  {
    law: "L4",
    name: "a listener that attaches in the middle of a text gets only its end",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "for (const event of log.inProgress())",
    replace: "for (const event of log.inProgress().slice(0, 0))",
  },
  {
    law: "L4",
    name: "what a fork copies has the time of the fork",
    file: "packages/core/src/manager/Storage.ts",
    find: "one.atMs ?? atMs",
    replace: "atMs",
  },
  {
    law: "L4",
    name: "a fork lacks the last event that its rule keeps",
    file: "packages/core/src/recovery/Fork.ts",
    find: "const kept = events.slice(1, cut(events, rule))",
    replace: "const kept = events.slice(1, cut(events, rule) - 1)",
  },
  {
    law: "L5",
    name: "a turn that completed ends again when its fiber does",
    file: "packages/core/src/decider/TurnEnd.ts",
    find: "if (state.turn?.id !== turnId) return nothing(state)",
    replace: "if (state.turn === undefined && state.closing) return nothing(state)",
  },
  {
    law: "L5",
    name: "an interrupt drops queued input without an event",
    file: "packages/core/src/decider/TurnEnd.ts",
    find: "const dropped = state.waiting.filter((one) => !kept.includes(one)).map(({ id }) => aborted(id))",
    replace: "const dropped = state.waiting.slice(0, 0).map(({ id }) => aborted(id))",
  },
  {
    law: "L5",
    name: "a tool that outlives its turn still emits events of the turn",
    file: "packages/core/src/decider/Decide.ts",
    find: "return state.turn?.id === input.turnId",
    replace: "return !state.closing",
  },
  {
    law: "L5",
    name: "input joins a turn that makes a summary",
    file: "packages/core/src/decider/Decide.ts",
    find: "aborting === undefined && !compacts",
    replace: "aborting === undefined",
  },
  {
    law: "L5",
    name: "a summary within a turn has the id of the turn",
    file: "packages/core/src/decider/Decide.ts",
    find: "ofCompaction === true ?",
    replace: "ofCompaction === true && turnId.length === 0 ?",
  },
  {
    law: "L6",
    name: "a listener's backlog has no bound",
    file: "packages/core/src/listeners/Backlog.ts",
    find: "held > limits.maxEvents || ",
    replace: "held < 0 || ",
  },
  {
    law: "L6",
    name: "a listener is woken late",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "resume(Effect.yieldNow)",
    replace: 'resume(Effect.sleep("10 millis"))',
  },
  {
    law: "L6",
    name: "the conversation delays every command, as if it waited for a reader",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "const actions = inOrder(acting, (action) => this.act(action))",
    replace:
      'const actions = Effect.andThen(inOrder(acting, (action) => this.act(action)), Effect.sleep("1 millis"))',
  },
  {
    law: "L6",
    name: "a listener misses an event that arrives while it suspends",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "if (this.isReady || this.publisher.end !== undefined) return resume(Effect.void)",
    replace: "if (this.publisher.end !== undefined) return resume(Effect.void)",
  },
  {
    law: "L7",
    name: "a question remains pending after its answer",
    file: "packages/core/src/decider/ApprovalBook.ts",
    find: "open: book.open.filter(({ number }) => number !== question.number),",
    replace: "open: book.open,",
  },
  {
    law: "L7",
    name: "a question remains pending beyond its deadline",
    file: "packages/core/src/conversation/ApprovalWaiters.ts",
    find: "duration: after,",
    replace: 'duration: "1 hour",',
  },
  {
    law: "L7",
    name: "a question is asked although no listener can answer",
    file: "packages/core/src/decider/ApprovalDecisions.ts",
    find: "const parked = !Book.isAttended(approvals, request)",
    replace: "const parked = false",
  },
  {
    law: "L7",
    name: "a listener that attaches does not get the pending questions",
    file: "packages/core/src/listeners/SubscribedListener.ts",
    find: "for (const event of log.openQuestions())",
    replace: "for (const event of log.openQuestions().slice(0, 0))",
  },
  {
    law: "L8",
    name: "closing does not wait for work that outlives its turn",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "yield* this.started?.close() ?? Effect.void",
    replace: "yield* Effect.void",
  },
  {
    law: "L13",
    name: "a repeated submission is accepted again",
    file: "packages/core/src/decider/Decide.ts",
    find: "if (receipt !== undefined) return { ...nothing(state), receipt }",
    replace: "if (receipt?.id === undefined && receipt) return { ...nothing(state), receipt }",
  },
  {
    law: "L13",
    name: "an op with too many items is accepted",
    file: "packages/core/src/decider/Decide.ts",
    find: "if (items.length > maxItems) {",
    replace: "if (items.length > maxItems * 2) {",
  },
  {
    law: "L13",
    name: "a page limit of 0 is accepted",
    file: "packages/core/src/manager/directory/Pages.ts",
    find: "limit < 1 || ",
    replace: "",
  },
  {
    law: "L13",
    name: "a fork rule with an invalid count is accepted",
    file: "packages/core/src/ForkRule.ts",
    find: "Number.isSafeInteger(value) && value >= 0",
    replace: "value !== Infinity",
  },
  {
    law: "L13",
    name: "a conversation that has ended says that it is being removed",
    file: "packages/core/src/manager/loaded/LoadedConversations.ts",
    find: "return this.isHalted || entry.isHidden",
    replace: 'return this.isHalted || placement._tag === "Stored"',
  },
  {
    law: "L14",
    name: "an interrupt is acknowledged but has no effect",
    file: "packages/core/src/conversation/TurnSupervisor.ts",
    find: "return this.interrupt()",
    replace: "return Effect.void",
  },
  {
    law: "L14",
    name: "a tool that does not stop delays the end of its turn",
    file: "packages/core/src/conversation/TurnSupervisor.ts",
    find: "duration: stopBound(turn.settings),",
    replace: 'duration: "1 minute",',
  },
]
