/** The command line of `sessions`: the stored conversations. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { withoutUserAndQuery } from "../../config/Redaction.ts"
import { resumeCommand } from "../chat/ChatCommand.ts"
import { launchOf } from "../LaunchCommand.ts"
import { textFlag } from "../TextFlag.ts"
import { withConfiguration, withServices } from "../WithServices.ts"

const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(
    Flag.withDescription(description),
    Flag.withoutNegation,
    Flag.withDefault(false),
  )

const json = flag("json", "Print JSON")
const id = Argument.String("id").pipe(Argument.withDescription("Id of a conversation"))
const ids = Argument.String("id").pipe(
  Argument.withDescription("Ids of conversations"),
  Argument.variadic({ min: 1 }),
)

const sessions = Effect.promise(() => import("./Sessions.ts"))

/** Most conversations that are listed unless the command line says otherwise: they fit a screen. */
const defaultLimit = 20

const listFlags = {
  search: Flag.optional(
    textFlag("search").pipe(
      Flag.withDescription("Only with this text in the name or the first message"),
    ),
  ),
  here: flag("here", "Only those that began in this directory"),
  archived: flag("archived", "Those that are archived instead of the others"),
  limit: Flag.Int("limit").pipe(
    Flag.withDescription("Most conversations that are listed"),
    Flag.filter(
      (n) => n >= 1,
      () => "1 or more",
    ),
    Flag.withDefault(defaultLimit),
  ),
  json,
}

const list = Command.make(
  "list",
  listFlags,
  Effect.fnUntraced(function* ({ archived, here, json: asJson, limit, search }) {
    const { list: run } = yield* sessions
    yield* withServices(yield* launchOf, ({ environment }) =>
      run({
        search: Option.getOrUndefined(search),
        cwd: here ? environment.cwd : undefined,
        archived,
        limit,
        json: asJson,
      }),
    )
  }),
).pipe(Command.withDescription("List conversations, newest first"))

const show = Command.make(
  "show",
  { id, json },
  Effect.fnUntraced(function* (given) {
    const { show: run } = yield* sessions
    yield* withServices(yield* launchOf, () => run(given.id, given))
  }),
).pipe(Command.withDescription("Print a conversation"))

const rename = Command.make(
  "rename",
  {
    id,
    name: Argument.String("name").pipe(
      Argument.withDescription("Its new name"),
      Argument.filter(
        (name) => name.trim() !== "",
        () => "a name that is not empty",
      ),
    ),
  },
  Effect.fnUntraced(function* (given) {
    const { rename: run } = yield* sessions
    yield* withServices(yield* launchOf, () => run(given.id, given.name))
  }),
).pipe(Command.withDescription("Name a conversation"))

const fork = Command.make(
  "fork",
  {
    id,
    drop: Flag.Int("drop").pipe(
      Flag.withDescription("Leave out this many of your last messages, and what followed"),
      Flag.filter(
        (n) => n >= 0,
        () => "0 or more",
      ),
      Flag.withDefault(0),
    ),
  },
  Effect.fnUntraced(function* (given) {
    const { fork: run } = yield* sessions
    yield* withServices(yield* launchOf, () => run(given.id, given.drop))
  }),
).pipe(Command.withDescription("Copy a conversation; prints the id of the copy"))

const archive = Command.make(
  "archive",
  { ids },
  Effect.fnUntraced(function* (given) {
    const { archive: run } = yield* sessions
    yield* withServices(yield* launchOf, () => run(given.ids))
  }),
).pipe(Command.withDescription("Hide conversations from lists"))

const unarchive = Command.make(
  "unarchive",
  { ids },
  Effect.fnUntraced(function* (given) {
    const { unarchive: run } = yield* sessions
    yield* withServices(yield* launchOf, () => run(given.ids))
  }),
).pipe(Command.withDescription("Show archived conversations again"))

const rm = Command.make(
  "rm",
  { ids },
  Effect.fnUntraced(function* (given) {
    const { remove: run } = yield* sessions
    yield* withServices(yield* launchOf, () => run(given.ids))
  }),
).pipe(Command.withDescription("Delete conversations, for good"))

const storeFlag = (name: string, description: string) =>
  Flag.optional(textFlag(name).pipe(Flag.withDescription(description)))

/** Fails for what names no store. An address may have a password. */
const checkPlace = Effect.fnUntraced(function* (option: string, name: Option.Option<string>) {
  const { expectedPlaces, placeOf } = yield* Effect.promise(() => import("./StorePlace.ts"))
  if (Option.isNone(name) || placeOf(name.value, "/") !== undefined) return
  return yield* new CliError.InvalidValue({
    option,
    value: withoutUserAndQuery(name.value),
    expected: expectedPlaces,
    kind: "flag",
  })
})

const places = "files, files:DIRECTORY, sqlite:PATH or postgres://…; default: conversation_store"

const transfer = Command.make(
  "transfer",
  {
    ids: Argument.String("id").pipe(
      Argument.withDescription("Ids of conversations; default: all, archived ones too"),
      Argument.variadic({ min: 0 }),
    ),
    from: storeFlag("from", `The store to copy from: ${places}`),
    to: storeFlag("to", `The store to copy to: ${places}`),
    json,
  },
  Effect.fnUntraced(function* ({ from, ids: given, json: asJson, to }) {
    if (Option.isNone(from) && Option.isNone(to)) {
      return yield* new CliError.MissingOption({ option: "from or --to" })
    }
    yield* checkPlace("from", from)
    yield* checkPlace("to", to)
    const { transfer: run } = yield* Effect.promise(() => import("./Transfer.ts"))
    yield* withConfiguration(yield* launchOf, ({ environment, startup }) =>
      run(
        {
          ids: given,
          from: Option.getOrUndefined(from),
          to: Option.getOrUndefined(to),
          json: asJson,
        },
        {
          store: startup.options.conversation_store ?? "files",
          stateDirectory: environment.stateDirectory,
        },
      ),
    )
  }),
).pipe(Command.withDescription("Copy conversations to another store, such as a database"))

/** The command. */
export const sessionsCommand = Command.make(
  "sessions",
  {},
  Effect.fnUntraced(function* () {
    const { list: run } = yield* sessions
    yield* withServices(yield* launchOf, () =>
      run({ search: undefined, cwd: undefined, archived: false, limit: defaultLimit, json: false }),
    )
  }),
).pipe(
  Command.withDescription(
    "List, show, continue, name, copy, archive, delete and transfer conversations",
  ),
  Command.withSubcommands([
    list,
    show,
    resumeCommand,
    rename,
    fork,
    archive,
    unarchive,
    rm,
    transfer,
  ]),
)
