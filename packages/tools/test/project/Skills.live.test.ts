import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Skills from "../../src/project/Skills.ts"

const skill = (name: string, description = `About ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\nDo ${name}.\n`

/** Writes the files below one directory and passes it on. */
const withFiles = <A, E>(
  files: Readonly<Record<string, string>>,
  body: (root: string) => Effect.Effect<A, E, FileSystem.FileSystem | NodeServices.NodeServices>,
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
    for (const [name, text] of Object.entries(files)) {
      yield* fs.makeDirectory(`${root}/${name.slice(0, name.lastIndexOf("/"))}`, {
        recursive: true,
      })
      yield* fs.writeFileString(`${root}/${name}`, text)
    }
    return yield* body(root)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const files = {
  "state/skills/mine/SKILL.md": skill("mine"),
  "state/skills/.system/x/SKILL.md": skill("hidden"),
  "state/skills/none/README.md": "",
  "repo/.git/HEAD": "",
  "repo/.agents/skills/deploy/SKILL.md": skill("deploy"),
  "repo/.codex/skills/bad/SKILL.md": "no front matter",
  "repo/a/.agents/skills/deploy/SKILL.md": skill("deploy", "Nearer."),
}

describe("Skills", () => {
  it.live("finds those of the user and of the project, the nearest of one name", () =>
    withFiles(files, (root) =>
      Effect.gen(function* () {
        const { list } = yield* Skills.make({ stateDirectory: `${root}/state` })
        const { errors, skills } = yield* list(`${root}/repo/a`)
        assert.deepStrictEqual(
          skills.map(({ description, name, path, scope }) => [name, description, path, scope]),
          [
            ["mine", "About mine.", `${root}/state/skills/mine/SKILL.md`, "user"],
            ["deploy", "Nearer.", `${root}/repo/a/.agents/skills/deploy/SKILL.md`, "repo"],
          ],
        )
        assert.deepStrictEqual(
          errors.map(({ path }) => path),
          [`${root}/repo/.codex/skills/bad/SKILL.md`],
        )
      }),
    ),
  )

  it.live("a folder of skills that cannot be read is one of the errors", () =>
    withFiles({ "repo/.git/HEAD": "", "repo/.agents/skills": "a file" }, (root) =>
      Effect.gen(function* () {
        const { list } = yield* Skills.make({ stateDirectory: `${root}/state` })
        assert.deepStrictEqual(yield* list(`${root}/repo`), {
          skills: [],
          errors: [{ path: `${root}/repo/.agents/skills`, message: "cannot be read: BadResource" }],
        })
      }),
    ),
  )

  it.live("L15 a link of a project does not lead to a secret", () =>
    withFiles({ ...files, "state/auth.json": skill("secret") }, (root) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(`${root}/repo/.agents/skills/s`)
        yield* fs.symlink(`${root}/state/auth.json`, `${root}/repo/.agents/skills/s/SKILL.md`)
        const { list } = yield* Skills.make({ stateDirectory: `${root}/state` })
        const { skills } = yield* list(`${root}/repo`)
        assert.notInclude(
          skills.map(({ name }) => name),
          "secret",
        )
      }),
    ),
  )

  it.live("offers them behind the instructions of the settings", () =>
    withFiles(files, (root) =>
      Effect.gen(function* () {
        const { resolve } = yield* SettingsResolver
        const { userInstructions = "" } = yield* resolve({})
        assert.match(userInstructions, /^before\n\n## Skills/)
        assert.include(userInstructions, "- deploy: About deploy.")
      }).pipe(
        Effect.provide(
          Layer.provide(
            Skills.layer({ stateDirectory: `${root}/state` }),
            Layer.mock(SettingsResolver)({
              resolve: () =>
                Effect.succeed(
                  scriptedSettings({ cwd: `${root}/repo`, userInstructions: "before" }),
                ),
            }),
          ),
        ),
      ),
    ),
  )
})
