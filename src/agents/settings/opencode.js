// Tells git-checkpoint of what happens, and waits for it no longer than a capture may take. It never throws.
import { spawn } from "node:child_process"

const PATIENCE = 30_000

export const GitCheckpoint = async ({ directory }) => {
  const turns = new Map()
  const children = new Set()

  const tell = (event, payload) =>
    new Promise((done) => {
      const late = setTimeout(done, PATIENCE)
      const end = () => {
        clearTimeout(late)
        done()
      }
      try {
        const options = { cwd: directory, stdio: ["pipe", "ignore", "ignore"] }
        const child = spawn("git", ["checkpoint", "hook", "opencode", event], options)
        child.on("error", end)
        child.on("close", end)
        child.stdin.on("error", () => {})
        child.stdin.end(JSON.stringify({ cwd: directory, ...payload }))
      } catch {
        end()
      }
    })

  const over = async (session, event) => {
    if (!session || children.has(session)) return
    const turn = turns.get(session)
    turns.delete(session)
    if (event === "SessionEnd" || turn) await tell(event, { session_id: session, turn_id: turn })
  }

  return {
    "chat.message": async (input, output) => {
      const session = input?.sessionID
      if (!session || children.has(session)) return
      const turn = output?.message?.id ?? input.messageID
      turns.set(session, turn)
      const texts = (output?.parts ?? []).filter((part) => part?.type === "text").map((part) => part.text)
      const model = input.model ?? output?.message?.model
      await tell("TurnStart", {
        session_id: session,
        turn_id: turn,
        prompt: texts.join("\n").slice(0, 1000),
        model: model?.modelID,
        provider: model?.providerID,
      })
    },
    event: async ({ event }) => {
      const about = event?.properties ?? {}
      if (event?.type === "session.created") {
        const { id, parentID, version } = about.info ?? {}
        if (parentID) children.add(id)
        else if (id) await tell("SessionStart", { session_id: id, version })
      }
      if (event?.type === "session.idle" || (event?.type === "session.status" && about.status?.type === "idle"))
        await over(about.sessionID, "TurnEnd")
      if (event?.type === "session.deleted") await over(about.info?.id ?? about.sessionID, "SessionEnd")
    },
  }
}
