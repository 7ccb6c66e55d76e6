// OpenAI's npm client against the simulated endpoint: the same list as the Go
// tests beside it. YOUDEN_BINARY names the command, else bin/youden is used.
//
//   npm ci && node --test
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const binary = process.env.YOUDEN_BINARY ?? join(root, 'bin', 'youden')
const skip = existsSync(binary) ? false : `${binary} is not built: go build -o bin/youden ./cmd/youden`
const key = 'sk-conformance-0123456789'
const model = 'sim-strong'
const processes = []
after(() => processes.forEach((p) => p.kill('SIGINT')))

// simulate starts the endpoint on a free port and returns a client of it.
async function simulate (args = [], options = {}) {
  const env = { PATH: process.env.PATH, HOME: tmpdir(), CONFORMANCE_KEY: key }
  const child = spawn(binary, ['simulate', '--addr', '127.0.0.1:0', ...args], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'ignore'] })
  processes.push(child)
  const baseURL = await new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`simulate ended with ${code}`)))
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
      const url = said.match(/https?:\/\/[^\s]+/)
      if (url) resolve(url[0])
    })
  })
  return new OpenAI({ baseURL, apiKey: key, maxRetries: 0, ...options })
}

const code = 'Audit this for injection and report findings as JSON.\n```python\nimport os\nfrom flask import request\n\ndef run():\n    os.system(\'ls \' + request.args.get(\'dir\'))\n```'
const tour = 'Audit the repository for injection. Files: app/run.py, app/db.py, app/views.py. Read each with the tools, then report.'
const ask = (more = {}) => ({ model, messages: [{ role: 'user', content: code }], seed: 7, temperature: 0, ...more })
const tools = [
  { type: 'function', function: { name: 'read_file', parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } } },
  { type: 'function', function: { name: 'grep', parameters: { type: 'object', properties: { pattern: { type: 'string' } }, required: ['pattern'] } } }
]
const create = (client, more) => client.chat.completions.create(ask(more))
const failure = async (promise, status, expected = {}) => {
  const error = await promise.then(() => assert.fail('an error was expected'), (e) => e)
  assert.equal(error.status, status, String(error))
  for (const [name, value] of Object.entries(expected)) assert.equal(error[name], value, name)
  assert.ok('param' in error.error && 'code' in error.error && error.error.type && error.error.message)
  return error
}

describe('the simulated endpoint, by the npm client', { skip, concurrency: false }, () => {
  test('models', async () => {
    const client = await simulate()
    const list = await client.models.list()
    assert.equal(list.object, 'list')
    for (const listed of list.data) {
      const one = await client.models.retrieve(listed.id)
      assert.deepEqual([one.id, one.object, one.owned_by, Number.isInteger(one.created)], [listed.id, 'model', 'simulated', true])
    }
  })

  test('a completion and its usage', async () => {
    const client = await simulate(['--cache'])
    const a = await create(client)
    assert.equal(a.object, 'chat.completion')
    assert.ok(Number.isInteger(a.created) && a.id.startsWith('chatcmpl-') && a.system_fingerprint)
    const [choice] = a.choices
    assert.ok(typeof choice.message.content === 'string' && choice.message.content !== '')
    assert.deepEqual([choice.finish_reason, choice.message.role, choice.message.refusal, choice.logprobs], ['stop', 'assistant', null, null])
    assert.equal(a.usage.total_tokens, a.usage.prompt_tokens + a.usage.completion_tokens)
    assert.ok(a.usage.completion_tokens_details.reasoning_tokens <= a.usage.completion_tokens)
    const long = { messages: [{ role: 'user', content: 'x = 1\n'.repeat(3000) + code }] }
    assert.equal((await create(client, long)).usage.prompt_tokens_details.cached_tokens, 0)
    const again = (await create(client, long)).usage
    assert.ok(again.prompt_tokens_details.cached_tokens > 0 && again.prompt_tokens_details.cached_tokens <= again.prompt_tokens)
    assert.ok(a._request_id)
  })

  test('seeds', async () => {
    const client = await simulate()
    const said = async (seed) => (await create(client, { seed, temperature: 1 })).choices[0].message.content
    assert.equal(await said(7), await said(7))
    const distinct = new Set()
    for (let seed = 0; seed < 8; seed++) distinct.add(await said(seed))
    assert.ok(distinct.size > 1)
  })

  for (const field of ['max_tokens', 'max_completion_tokens']) {
    test(field, async () => {
      const a = await create(await simulate(), { [field]: 3 })
      assert.ok(a.usage.completion_tokens <= 3)
      assert.equal(a.choices[0].finish_reason, 'length')
    })
  }

  test('n, logprobs and stop', async () => {
    const client = await simulate()
    const a = await create(client, { n: 2, logprobs: true, top_logprobs: 2, temperature: 1 })
    assert.deepEqual(a.choices.map((c) => c.index), [0, 1])
    for (const choice of a.choices) {
      const bytes = choice.logprobs.content.flatMap((t) => { assert.equal(t.top_logprobs.length, 2); return t.bytes })
      assert.equal(Buffer.from(bytes).toString('utf8'), choice.message.content)
    }
    const whole = (await create(client)).choices[0].message.content
    for (const stop of ['"line"', ['never said', '"line"']]) {
      assert.equal((await create(client, { stop })).choices[0].message.content, whole.split('"line"')[0])
    }
  })

  test('response_format', async () => {
    const client = await simulate()
    const schema = { type: 'object', properties: { verdict: { type: 'string', enum: ['vulnerable', 'safe'] }, line: { type: 'integer' } }, required: ['verdict', 'line'], additionalProperties: false }
    let parsed = 0
    for (let seed = 0; seed < 10; seed++) {
      const a = await client.chat.completions.parse(ask({ seed, temperature: 1, response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } } }))
      const { refusal, content } = a.choices[0].message
      if (refusal) { assert.equal(content, null); continue }
      const said = JSON.parse(content)
      assert.deepEqual(Object.keys(said).sort(), ['line', 'verdict'])
      assert.ok(['vulnerable', 'safe'].includes(said.verdict) && Number.isInteger(said.line))
      parsed++
    }
    assert.ok(parsed > 0)
    JSON.parse((await create(client, { response_format: { type: 'json_object' } })).choices[0].message.content)
  })

  test('tool_choice', async () => {
    const client = await simulate()
    const messages = [{ role: 'user', content: tour }]
    for (const choice of ['auto', 'required']) {
      const [c] = (await create(client, { messages, tools, tool_choice: choice })).choices
      assert.equal(c.finish_reason, 'tool_calls')
      assert.equal(c.message.content, null)
      assert.equal(new Set(c.message.tool_calls.map((t) => t.id)).size, c.message.tool_calls.length)
      for (const t of c.message.tool_calls) assert.equal(typeof JSON.parse(t.function.arguments), 'object')
    }
    const [named] = (await create(client, { messages, tools, tool_choice: { type: 'function', function: { name: 'grep' } } })).choices
    assert.deepEqual(named.message.tool_calls.map((t) => t.function.name), ['grep'])
    const [none] = (await create(client, { messages, tools, tool_choice: 'none' })).choices
    assert.ok(!none.message.tool_calls && none.message.content)
    for (let seed = 0; seed < 20; seed++) {
      const [c] = (await create(client, { messages, tools, seed, temperature: 1, parallel_tool_calls: false })).choices
      assert.ok((c.message.tool_calls ?? []).length <= 1)
    }
  })

  test('a loop of tools, by runTools', async () => {
    const client = await simulate()
    let reads = 0
    const run = (name, key) => ({ type: 'function', function: { ...tools.find((t) => t.function.name === name).function, parse: JSON.parse, function: (args) => { reads++; assert.equal(typeof args[key], 'string'); return '1: import os\n2: os.system(request.args["x"])' } } })
    const runner = client.chat.completions.runTools(ask({ messages: [{ role: 'user', content: tour }], tools: [run('read_file', 'path'), run('grep', 'pattern')] }), { maxChatCompletions: 20 })
    await runner.done()
    const final = runner.messages.at(-1)
    assert.ok(final.content || final.refusal)
    assert.ok(reads > 0)
    const roles = runner.messages.map((m) => m.role)
    assert.deepEqual([roles[0], roles[1], roles[2], roles.at(-1)], ['user', 'assistant', 'tool', 'assistant'])
  })

  test('tool messages out of place', async () => {
    const client = await simulate()
    const messages = [{ role: 'user', content: tour }]
    await failure(create(client, { tools, messages: [...messages, { role: 'tool', tool_call_id: 'nobody', content: 'x' }] }), 400)
    const { message } = (await create(client, { messages, tools, tool_choice: 'required' })).choices[0]
    await failure(create(client, { tools, messages: [...messages, message, { role: 'user', content: 'and?' }] }), 400)
  })

  test('streams', async () => {
    const client = await simulate()
    for (const more of [{}, { tools, messages: [{ role: 'user', content: tour }] }, { max_completion_tokens: 5 }, { n: 2, temperature: 1 }]) {
      const whole = await create(client, more)
      const stream = client.chat.completions.stream(ask({ ...more, stream_options: { include_usage: true } }))
      const ids = new Set()
      for await (const chunk of stream) { assert.equal(chunk.object, 'chat.completion.chunk'); ids.add(chunk.id) }
      assert.equal(ids.size, 1)
      const final = await stream.finalChatCompletion()
      assert.deepEqual(final.usage, whole.usage)
      for (const [i, choice] of whole.choices.entries()) {
        const got = final.choices[i]
        assert.equal(got.finish_reason, choice.finish_reason)
        assert.equal(got.message.content ?? null, choice.message.content ?? null)
        assert.deepEqual((got.message.tool_calls ?? []).map((t) => t.function.arguments), (choice.message.tool_calls ?? []).map((t) => t.function.arguments))
      }
    }
  })

  test('errors', async () => {
    const client = await simulate(['--key-env', 'CONFORMANCE_KEY'])
    await failure(create(client, { messages: [{ role: 'user', content: 'word '.repeat(400000) }] }), 400, { code: 'context_length_exceeded', param: 'messages', type: 'invalid_request_error' })
    await failure(create(client, { model: 'gpt-nowhere' }), 404, { code: 'model_not_found' })
    await failure(create(client, { messages: [] }), 400, { param: 'messages' })
    await failure(create(client.withOptions({ apiKey: 'sk-wrong' })), 401, { code: 'invalid_api_key' })
    await failure(client.models.retrieve('gpt-nowhere'), 404)
    await failure(client.get('/nowhere'), 404)
  })

  test('faults, and what the client makes of them', async () => {
    for (const [fault, status, code] of [['rate_limit', 429, 'rate_limit_exceeded'], ['insufficient_quota', 429, 'insufficient_quota'], ['server_error', 500, null], ['overloaded', 503, null]]) {
      await failure(create(await simulate(['--faults', fault])), status, { code })
    }
    for (const fault of ['cut', 'reset', 'garbage', 'html']) await assert.rejects(create(await simulate(['--faults', fault])))
    for (const fault of ['cut', 'stream_error', 'reset']) {
      const client = await simulate(['--faults', fault])
      await assert.rejects(async () => { for await (const chunk of await create(client, { stream: true })) assert.ok(chunk.choices.every((c) => c.finish_reason === null)) })
    }
    const patient = await simulate(['--faults', 'flaky'], { maxRetries: 8 })
    for (let i = 0; i < 30; i++) {
      const a = await create(patient, { messages: [{ role: 'user', content: `${code}\n# ${i}` }] }).catch((e) => e)
      // garbage under a 200 is not retried by the client, and is an error to it
      assert.ok(a.choices?.[0].finish_reason === 'stop' || a instanceof SyntaxError || a instanceof OpenAI.APIConnectionError, String(a))
    }
  })
})
