/**
 * Makes `node_modules/.bin/node` the machine's own Node where that is new enough for this project. Otherwise the link
 * stays as npm made it: the Node of the platform package that the lockfile pins with its hash. Runs in `prepare`, so
 * after `npm ci` every script uses one of the two; `npm ci --ignore-scripts` uses the pinned one.
 *
 * Plain JavaScript: it also runs on a Node that cannot run TypeScript.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/** Whether `version` (`v24.1.0`) satisfies `range`, the form `>=22.19` that `engines.node` has. */
const isNewEnough = (version, range) => {
  const numbers = (text) => text.replace(/^\D*/, "").split(".").map(Number)
  const [least, actual] = [numbers(range), numbers(version)]
  const at = least.findIndex((number, index) => number !== (actual[index] ?? 0))
  return at === -1 || (actual[at] ?? 0) > (least[at] ?? 0)
}

/** Absolute path of the Node to link to, or undefined where the pinned one is used. `ownNode` is the Node npm runs on. */
const nodeToLink = ({ ownNode, pinned, range, versionOf }) => {
  if (ownNode === undefined || ownNode === pinned) return undefined
  return isNewEnough(versionOf(ownNode), range) ? ownNode : undefined
}

const realPath = (path) => {
  try {
    return realpathSync(path)
  } catch (error) {
    if (error.code === "ENOENT") return undefined
    throw error
  }
}

const link = () => {
  // A symbolic link cannot stand in for the command file that npm writes on Windows.
  if (process.platform === "win32") return
  const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..")
  const target = `${root}/node_modules/.bin/node`
  const { engines } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))
  const own = process.env["npm_node_execpath"]
  const node = nodeToLink({
    ownNode: own === undefined ? undefined : realPath(own),
    pinned: realPath(target),
    range: engines.node,
    versionOf: (path) => execFileSync(path, ["--version"], { encoding: "utf8" }).trim(),
  })
  if (node === undefined) {
    if (realPath(target) !== undefined) return
    const found =
      own === undefined ? "none" : execFileSync(own, ["--version"], { encoding: "utf8" })
    process.stderr.write(
      `needs Node ${engines.node.slice(2)} or newer, found ${found.trim()}: no pinned Node exists for ${process.platform} on ${process.arch}\n`,
    )
    process.exit(1)
  }
  rmSync(target, { force: true })
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(node, target)
}

link()
