// Asks each of some vendors through one official SDK, as its users do: streamed and not, with
// tools, pictures, structured answers and thinking. Prints a table, and ends with 1 if any
// cell failed. What reached the vendors is looked at by whoever started this.
//
//   node sdks.mjs CLIENT BASE KEY SETTING
//
// The setting is JSON: the models, what they say and think, the tool's only argument, the picture.
const [, , name, base, key, given] = process.argv
const setting = JSON.parse(given)

const said = 'What is the weather like?' // a stand-in at work calls twice for it
const place = { type: 'object', additionalProperties: false, required: ['place'], properties: { place: { type: 'string', enum: [setting.place] } } }
const answer = {
  type: 'object', additionalProperties: false, required: ['answer', 'sure', 'parts'],
  properties: { answer: { type: 'string' }, sure: { type: 'boolean' }, parts: { type: 'array', items: { type: 'string', enum: ['six', 'seven'] } } },
}
const tool = { name: 'weather', description: 'Tells the weather of a place.' }

// Each client takes a question {model, streamed, system, picture, schema, thinks, tool} and gives
// what it heard: {text, thought, done, in, out, calls: [arguments], again(result)}.
const clients = {
  chat: async () => {
    const { default: OpenAI } = await import('openai')
    const api = new OpenAI({ baseURL: base + '/v1', apiKey: key, maxRetries: 0, timeout: 20_000 })
    const hear = async (body, streamed) => {
      let reply, thought = ''
      if (streamed) {
        const stream = api.chat.completions.stream({ ...body, stream_options: { include_usage: true } })
        for await (const chunk of stream) thought += chunk.choices[0]?.delta?.reasoning_content ?? ''
        reply = await stream.finalChatCompletion()
      } else {
        reply = await api.chat.completions.create(body)
        thought = reply.choices[0].message.reasoning_content ?? ''
      }
      const { message, finish_reason } = reply.choices[0]
      const calls = message.tool_calls ?? []
      return {
        text: message.content ?? '', thought, done: finish_reason === (calls.length ? 'tool_calls' : 'stop'),
        in: reply.usage.prompt_tokens, out: reply.usage.completion_tokens, calls: calls.map(c => c.function.arguments),
        again: result => hear({
          ...body,
          messages: [
            ...body.messages,
            { role: 'assistant', content: message.content, tool_calls: calls.map(({ id, type, function: f }) => ({ id, type, function: { name: f.name, arguments: f.arguments } })), ...(thought && { reasoning_content: thought }) },
            ...calls.map(c => ({ role: 'tool', tool_call_id: c.id, content: result })),
          ],
        }, streamed),
      }
    }
    return q => hear({
      model: q.model,
      messages: [{ role: 'system', content: q.system }, { role: 'user', content: q.picture ? [{ type: 'text', text: said }, { type: 'image_url', image_url: { url: 'data:image/png;base64,' + setting.picture } }] : said }],
      ...(q.thinks && { reasoning_effort: 'high' }),
      ...(q.tool && { tools: [{ type: 'function', function: { ...tool, parameters: place } }] }),
      ...(q.schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: answer, strict: true } } }),
    }, q.streamed)
  },

  responses: async () => {
    const { default: OpenAI } = await import('openai')
    const { toResponseInputItems } = await import('openai/lib/responses/ResponseInputItems')
    const api = new OpenAI({ baseURL: base + '/v1', apiKey: key, maxRetries: 0, timeout: 20_000 })
    const hear = async (body, streamed) => {
      const reply = streamed ? await api.responses.stream(body).finalResponse() : await api.responses.create(body)
      const calls = reply.output.filter(i => i.type === 'function_call')
      return {
        text: reply.output_text ?? '', done: reply.status === 'completed', in: reply.usage.input_tokens, out: reply.usage.output_tokens,
        thought: reply.output.filter(i => i.type === 'reasoning').flatMap(i => i.summary.map(s => s.text)).join(''),
        calls: calls.map(c => c.arguments),
        again: result => hear({ ...body, input: [...body.input, ...toResponseInputItems(reply.output), ...calls.map(c => ({ type: 'function_call_output', call_id: c.call_id, output: result }))] }, streamed),
      }
    }
    return q => hear({
      model: q.model, store: false, instructions: q.system,
      input: [{ role: 'user', content: [{ type: 'input_text', text: said }, ...(q.picture ? [{ type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,' + setting.picture }] : [])] }],
      ...(q.thinks && { reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] }),
      ...(q.tool && { tools: [{ type: 'function', ...tool, parameters: place, strict: true }] }),
      ...(q.schema && { text: { format: { type: 'json_schema', name: 'answer', schema: answer, strict: true } } }),
    }, q.streamed)
  },

  messages: async () => {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    const api = new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0, timeout: 20_000 })
    const hear = async (body, streamed) => {
      const reply = streamed ? await api.messages.stream(body).finalMessage() : await api.messages.create(body)
      const all = (type, field) => reply.content.filter(b => b.type === type).map(b => b[field])
      const calls = reply.content.filter(b => b.type === 'tool_use')
      return {
        text: all('text', 'text').join(''), thought: all('thinking', 'thinking').join(''), done: reply.stop_reason === (calls.length ? 'tool_use' : 'end_turn'),
        in: reply.usage.input_tokens + (reply.usage.cache_read_input_tokens ?? 0) + (reply.usage.cache_creation_input_tokens ?? 0), out: reply.usage.output_tokens,
        calls: calls.map(c => JSON.stringify(c.input)),
        again: result => hear({
          ...body,
          messages: [...body.messages, { role: 'assistant', content: reply.content }, { role: 'user', content: calls.map(c => ({ type: 'tool_result', tool_use_id: c.id, content: result })) }],
        }, streamed),
      }
    }
    return q => hear({
      model: q.model, max_tokens: 4096, system: q.system,
      messages: [{ role: 'user', content: [{ type: 'text', text: said }, ...(q.picture ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: setting.picture } }] : [])] }],
      ...(q.thinks && { thinking: { type: 'adaptive', display: 'summarized' } }),
      ...((q.thinks || q.schema) && { output_config: { ...(q.thinks && { effort: 'high' }), ...(q.schema && { format: { type: 'json_schema', schema: answer } }) } }),
      ...(q.tool && { tools: [{ ...tool, input_schema: place }] }),
    }, q.streamed)
  },

  gemini: async () => {
    const { GoogleGenAI, ThinkingLevel } = await import('@google/genai')
    const api = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base, timeout: 20_000 } })
    const hear = async (body, streamed) => {
      const chunks = []
      if (streamed) for await (const chunk of await api.models.generateContentStream(body)) chunks.push(chunk)
      else chunks.push(await api.models.generateContent(body))
      const parts = chunks.flatMap(c => c.candidates?.[0]?.content?.parts ?? [])
      const usage = chunks.findLast(c => c.usageMetadata)?.usageMetadata
      const calls = parts.flatMap(p => p.functionCall ?? [])
      const text = thought => parts.filter(p => p.text && Boolean(p.thought) === thought).map(p => p.text).join('')
      return {
        text: text(false), thought: text(true), done: chunks.some(c => c.candidates?.[0]?.finishReason === 'STOP'),
        in: usage?.promptTokenCount, out: usage?.candidatesTokenCount, calls: calls.map(c => JSON.stringify(c.args)),
        again: result => hear({
          ...body,
          contents: [...body.contents, { role: 'model', parts }, { role: 'user', parts: calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: result } } })) }],
        }, streamed),
      }
    }
    return q => hear({
      model: q.model,
      contents: [{ role: 'user', parts: [{ text: said }, ...(q.picture ? [{ inlineData: { mimeType: 'image/png', data: setting.picture } }] : [])] }],
      config: {
        systemInstruction: q.system, maxOutputTokens: 4096,
        ...(q.thinks && { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH } }),
        ...(q.tool && { tools: [{ functionDeclarations: [{ ...tool, parametersJsonSchema: place }] }] }),
        ...(q.schema && { responseMimeType: 'application/json', responseJsonSchema: answer }),
      },
    }, q.streamed)
  },
}

function same(what, got, want) {
  if (got !== want) throw new Error(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(want)}`)
}

// finished looks at a reply that is to be the answer, and whole.
function finished(heard, text = setting.text) {
  if (text !== null) same('the text', heard.text, text)
  same('it ended well', heard.done, true)
  same('calls', heard.calls.length, 0)
  if (!(heard.in > 0 && heard.out > 0)) throw new Error(`tokens: ${heard.in} in, ${heard.out} out`)
}

async function loop(heard) {
  for (const _ of [1, 2]) {
    same('calls', heard.calls.length, 1)
    same('the call', JSON.parse(heard.calls[0]).place, setting.place)
    same('it ended well', heard.done, true)
    heard = await heard.again('Sunny.')
  }
  finished(heard)
}

// What each cell asks, and what the answer has to be.
const things = {
  text: [{}, async heard => finished(heard)],
  tools: [{ tool: true }, loop],
  'tools, thinking': [{ tool: true, thinks: true }, async heard => {
    same('the thinking', heard.thought, setting.thought)
    await loop(heard)
  }],
  picture: [{ picture: true }, async heard => finished(heard)],
  structured: [{ schema: true }, async heard => {
    finished(heard, null)
    const { answer, sure, parts } = JSON.parse(heard.text)
    same('types', [typeof answer, typeof sure, Array.isArray(parts)].join(), 'string,boolean,true')
  }],
  thinking: [{ thinks: true }, async heard => {
    finished(heard)
    same('the thinking', heard.thought, setting.thought)
  }],
}

const ask = await clients[name]()
const faults = []
const rows = await Promise.all(setting.models.flatMap(model => [false, true].map(async streamed => {
  const row = [`${model}, ${streamed ? 'streamed' : 'whole'}`]
  for (const [thing, [q, judge]] of Object.entries(things)) {
    const cell = `${row[0]}, ${thing}`
    try {
      await judge(await ask({ ...q, model, streamed, system: `Be brief. This is about ${cell}.` }))
      row.push('ok')
    } catch (e) {
      row.push('FAILED')
      faults.push(`${cell}: ${e?.stack ?? e}`)
    }
  }
  return row
})))
const head = ['', ...Object.keys(things)]
const wide = head.map((_, i) => Math.max(...[head, ...rows].map(r => r[i].length)))
for (const row of [head, ...rows]) console.log(row.map((c, i) => c.padEnd(wide[i])).join('  ').trimEnd())
for (const f of faults) console.log(f)
process.exit(faults.length ? 1 : 0)
