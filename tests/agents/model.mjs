// A model that says which prompts it was sent, and writes the file that the last of them asks for: `Q1 write alpha.txt one`.
// It speaks to Claude Code (Messages) and to Codex (Responses) on the loopback address only. Prints its port.

import http from "node:http";

const directory = process.argv[2];
let count = 0;

// The prompts among what was sent: those that begin with Q and a number. What an agent adds to them begins otherwise.
function prompts(texts) {
  return texts.flatMap((text) => text.split("\n")).map((line) => line.trim()).filter((line) => /^Q\d+\b/.test(line));
}

function plan(texts, afterTool) {
  const asked = prompts(texts);
  const order = /write (\S+) (\S+)$/.exec(asked.at(-1) ?? "");
  return order && !afterTool ? { file: order[1], text: order[2] } : { answer: `I know: ${asked.join(" | ")}` };
}

const parts = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content);

function* messages(body) {
  const said = body.messages.filter((message) => message.role === "user").map((message) => parts(message.content));
  const texts = said.flat().filter((part) => part.type === "text").map((part) => part.text);
  const tools = (body.tools ?? []).map((tool) => tool.name);
  const next = plan(texts, said.at(-1)?.some((part) => part.type === "tool_result"));
  const id = `msg_${++count}`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  yield { type: "message_start", message: { id, type: "message", role: "assistant", model: body.model, content: [], stop_reason: null, stop_sequence: null, usage } };
  if (next.file && tools.includes("Write")) {
    const input = JSON.stringify({ file_path: `${directory}/${next.file}`, content: `${next.text}\n` });
    yield { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: `toolu_${count}`, name: "Write", input: {} } };
    yield { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: input } };
  } else {
    yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
    yield { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: next.answer ?? "nothing to do" } };
  }
  yield { type: "content_block_stop", index: 0 };
  const reason = next.file && tools.includes("Write") ? "tool_use" : "end_turn";
  yield { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } };
  yield { type: "message_stop" };
}

function* responses(body) {
  const input = body.input ?? [];
  const said = input.filter((item) => item.role === "user").flatMap((item) => parts(item.content).map((part) => part.text ?? ""));
  const next = plan(said, /_output$/.test(input.at(-1)?.type ?? ""));
  const id = `resp_${++count}`;
  yield { type: "response.created", response: { id } };
  const item = next.file
    ? { type: "function_call", id: `fc_${count}`, call_id: `call_${count}`, name: "exec_command", arguments: JSON.stringify({ cmd: `echo ${next.text} > ${next.file}` }) }
    : { type: "message", role: "assistant", id: `item_${count}`, content: [{ type: "output_text", text: next.answer }] };
  yield { type: "response.output_item.added", output_index: 0, item };
  yield { type: "response.output_item.done", output_index: 0, item };
  const usage = { input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 };
  yield { type: "response.completed", response: { id, usage } };
}

function reply(response, value) {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

const server = http.createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method === "GET") return reply(response, { object: "list", data: [], models: [] });
  const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
  if (request.url.includes("count_tokens")) return reply(response, { input_tokens: 1 });
  const events = request.url.includes("/responses") ? responses(body) : messages(body);
  if (!request.url.includes("/responses") && !body.stream) {
    const all = [...events];
    const text = all.find((event) => event.delta?.type === "text_delta")?.delta.text ?? "";
    return reply(response, { ...all[0].message, content: [{ type: "text", text }], stop_reason: "end_turn" });
  }
  response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
