/** Opens a chat: finds or creates its conversation, gives it its tools, and ends its turns with the scope. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ChatClosed, EventsLost, type OpenError } from "../AgentErrors.ts"
import type { OnApproval } from "../Approval.ts"
import { Account } from "../Budget.ts"
import {
  type Chat,
  childOptions,
  type ChildOptions,
  eventsOptions,
  type OpenOptions,
} from "../Chat.ts"
import { conversationIdOf } from "../ConversationName.ts"
import type { Tools } from "../Tool.ts"
import { type Ask, askInput, askOptions, type AskOptions, type Input } from "../Turn.ts"
import { type AgentRuntime, type RuntimeServices, WantedId } from "./AgentRuntime.ts"
import { type AnyOnApproval, samePlace, settingsOf } from "./AgentDefinition.ts"
import type { ToolsOfChat } from "./ChatTools.ts"
import { machineNames } from "../Machine.ts"
import { checkOptions, is } from "./Options.ts"
import * as RunTurn from "./RunTurn.ts"

type AnyOpenOptions = OpenOptions<never>

/** What an open chat and its children share. */
interface Family {
  readonly runtime: AgentRuntime
  readonly services: Context.Context<RuntimeServices>
}

/** What one chat is opened with. */
interface Opening {
  readonly id: ConversationId | undefined
  readonly settings: ConversationSettings
  readonly tools: ToolsOfChat
  readonly onApproval: OnApproval<never> | undefined
  readonly account: Account
}

/** A policy that runs with these services, whoever asks. */
const withServices = (
  policy: AnyOnApproval | undefined,
  services: Context.Context<never>,
): OnApproval<never> | undefined =>
  policy &&
  ((question) => {
    const answer = policy(question)
    if (!Effect.isEffect(answer)) return answer
    // The type of `Agent.open` says that they are there.
    return Effect.provideContext(answer, services as Context.Context<unknown>)
  })

/** The conversation with this id, created where there is none, and whether it was there. */
const findOrCreate = (
  { runtime, services }: Family,
  { id, settings }: Opening,
): Effect.Effect<readonly [Conversation, boolean], OpenError> => {
  const manager = Context.get(services, ConversationManager)
  const machine = runtime.definition.machine?.["~colloquy/agent/Machine"]
  const docs = machine?.readDocs ?? Effect.succeed(undefined)
  const create = docs.pipe(
    Effect.flatMap((userInstructions) =>
      manager.create({ ...settings, ...defined({ userInstructions }) }),
    ),
    // Only settings with `resumePath` or `clientTools` can fail so.
    Effect.catchTags({ CannotResume: Effect.die, BadClientTool: Effect.die }),
  )
  if (id === undefined) return Effect.map(create, (made) => [made, false])
  const found = Effect.map(manager.get(id), (one): readonly [Conversation, boolean] => [one, true])
  const made = Effect.map(
    Effect.provideService(create, WantedId, id),
    (one): readonly [Conversation, boolean] => [one, false],
  )
  const again = Effect.catchTag(found, "NoSuchConversation", Effect.die)
  return found.pipe(
    Effect.catchTag("NoSuchConversation", () => made),
    // Another process has created it between the two steps.
    Effect.catchIf(
      (error) => error._tag === "StoreError" && error.reason === "Exists",
      () => again,
    ),
    runtime.exclusive(`open ${id}`),
  )
}

/** Gives a resumed conversation the instructions, the model and the machine that its agent has now. */
const refresh = (conversation: Conversation, settings: ConversationSettings) =>
  Effect.gen(function* () {
    const { settings: stored } = yield* conversation.state
    const { approvalPolicy, baseInstructions: instructions = "", cwd, model } = settings
    const isSame = stored.baseInstructions === instructions && stored.model === model
    if (isSame && samePlace(stored, settings)) return
    yield* conversation
      .submit({
        type: "override_turn_context",
        base_instructions: instructions,
        model,
        cwd,
        approval_policy: approvalPolicy,
        sandbox_policy: settings.sandboxPolicy,
      })
      .pipe(
        // A conversation that refuses this refuses every turn with the reason.
        Effect.catchTag(["SubmissionRefused", "ConversationClosed"], (error) =>
          Effect.logWarning("the settings of a resumed conversation are those it had", error),
        ),
      )
  })

/** Of these tools those that are named, the machine's included. */
const only = (tools: ToolsOfChat, names: ReadonlyArray<string> | undefined): ToolsOfChat =>
  names === undefined
    ? tools
    : {
        own: new Map([...tools.own].filter(([name]) => names.includes(name))),
        ofMachine: names.filter(
          (name) => tools.ofMachine === undefined || tools.ofMachine.includes(name),
        ),
      }

/** Throws `BadOption` for a name that is not one of these tools. */
const checkNames = (
  { ofMachine = machineNames, own }: ToolsOfChat,
  names: ReadonlyArray<string> | undefined,
): void => {
  const known = [...own.keys(), ...ofMachine]
  const expected = known.length === 0 ? "none, as the parent has no tools" : known.join(", ")
  for (const name of names ?? []) {
    checkOptions(
      "chat.child tools",
      is(expected, () => known.includes(name)),
      name,
    )
  }
}

/** One open chat. */
class OpenedChat implements Chat {
  readonly id: ConversationId
  readonly isResumed: boolean
  readonly conversation: Conversation
  private readonly family: Family
  private readonly opening: Opening
  private readonly scope = Scope.makeUnsafe()
  private readonly closed = Deferred.makeUnsafe<void>()
  private isClosed = false

  constructor(family: Family, opening: Opening, conversation: Conversation, isResumed: boolean) {
    this.family = family
    this.opening = opening
    this.conversation = conversation
    this.id = conversation.id
    this.isResumed = isResumed
  }

  readonly ask = <A = string, R = never>(
    input: Input,
    options: AskOptions<never, A, R> = {},
  ): Ask<A, R> => {
    const { account, onApproval, tools } = this.opening
    const { runtime, services } = this.family
    const start = Effect.suspend(() => {
      checkOptions("chat.ask input", askInput, input)
      checkOptions("chat.ask", askOptions, options)
      const chat: RunTurn.TurnChat = {
        conversation: this.conversation,
        tools: tools.own,
        useTools: runtime.tools.asking(this.id, tools),
        readsFiles: runtime.definition.machine !== undefined,
        account,
        scope: this.scope,
        isClosed: () => this.isClosed,
        exclusive: runtime.exclusive(`turn ${this.id}`),
        nextId: Context.get(services, IdGenerator).conversationId,
      }
      return RunTurn.start(chat, input, { ...defined({ onApproval }), ...options })
      // The fiber of the turn has the context of this call, and with it what the policy needs.
    }) as Ask<A, R>["start"]
    // A caller that waits for an earlier turn can be interrupted.
    const running = Effect.acquireRelease(start, (turn) => turn.interrupt, { interruptible: true })
    const events = Stream.unwrap(
      Effect.map(running, (turn) =>
        Stream.concat(turn.events, Stream.fromEffectDrain(turn.result)),
      ),
    )
    const result = Effect.scoped(Effect.flatMap(running, (turn) => turn.result))
    return Object.assign(events, { start, result })
  }

  readonly events: Chat["events"] = (options = {}) =>
    Stream.suspend((): ReturnType<Chat["events"]> => {
      checkOptions("chat.events", eventsOptions, options)
      if (this.isClosed) return Stream.fail(new ChatClosed({ conversationId: this.id }))
      return this.conversation.events(options).pipe(
        Stream.interruptWhen(Deferred.await(this.closed)),
        Stream.mapError(({ message }) => new EventsLost({ reason: message })),
      )
    })

  readonly child: Chat["child"] = (options: ChildOptions<never> = {}) =>
    Effect.suspend(() => {
      checkOptions("chat.child", childOptions, options)
      checkNames(this.opening.tools, options.tools)
      if (this.isClosed) return Effect.fail(new ChatClosed({ conversationId: this.id }))
      const { account, onApproval, settings, tools } = this.opening
      const { instructions, name } = options
      const opening = Effect.map(Account.make("chat", options.budget, account), (own) => ({
        id: name === undefined ? undefined : conversationIdOf(`${this.id}/${name}`),
        settings: { ...settings, ...defined({ baseInstructions: instructions }) },
        tools: only(tools, options.tools),
        onApproval: options.onApproval ?? onApproval,
        account: own,
      }))
      return Effect.flatMap(opening, (one) => open(this.family, one)).pipe(
        Scope.provide(this.scope),
      )
    })

  /** Ends its turns and its children. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.isClosed = true
    return Effect.andThen(
      Deferred.succeed(this.closed, undefined),
      Scope.close(this.scope, Exit.void),
    )
  })
}

/** Opens a chat until the scope closes. */
const open = (
  family: Family,
  opening: Opening,
): Effect.Effect<OpenedChat, OpenError, Scope.Scope> =>
  Effect.gen(function* () {
    const { id, settings, tools } = opening
    const registered = family.runtime.tools
    // Before it is loaded: a turn that is resumed then needs them.
    if (id !== undefined) yield* registered.register(id, tools)
    const [conversation, isResumed] = yield* findOrCreate(family, opening)
    if (id === undefined) yield* registered.register(conversation.id, tools)
    if (isResumed) yield* refresh(conversation, settings)
    const chat = new OpenedChat(family, opening, conversation, isResumed)
    yield* Effect.addFinalizer(() => chat.close)
    return chat
  })

/** Opens the chat of this name, or a new one. What it needs besides the scope is in the type of `Agent.open`. */
export const openChat = (
  runtime: AgentRuntime,
  name: string | undefined,
  options: AnyOpenOptions,
): Effect.Effect<Chat, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const { definition } = runtime
    const services = yield* runtime.acquire
    const context = yield* Effect.context()
    // The services that the tools need are those of the caller.
    const built = yield* Effect.forEach(
      definition.tools as ReadonlyArray<Tools<never, never, never>>,
      ({ build }) => build,
    )
    const account = yield* Account.make("chat", options.budget ?? definition.budget)
    return yield* open(
      { runtime, services },
      {
        id: name === undefined ? undefined : conversationIdOf(name),
        settings: settingsOf(definition),
        tools: {
          own: new Map(built.flat().map((one) => [one.tool.name, one])),
          ofMachine: definition.machine === undefined ? [] : undefined,
        },
        onApproval: options.onApproval ?? withServices(definition.onApproval, context),
        account,
      },
    )
  })
