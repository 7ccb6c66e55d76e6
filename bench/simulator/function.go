package simulator

import (
	"regexp"
	"strings"
)

// function is a named or anonymous body of code, by line indices.
type function struct {
	name        string
	first, last int // last line of the body, inclusive
	head        int // first line of decorators or annotations above it
	params      []string
	receiver    string   // of a Go method
	entry       bool     // a route or an annotation makes outsiders call it
	numbers     []string // parameters whose type holds no text
	carriers    []string // parameters that are requests: only what is taken from them counts
	route       bool     // it is the argument of a call that registers a route
}

var (
	headGo = regexp.MustCompile(`\bfunc\s*(?:\([^)]*\)\s*)?(\w*)\s*(?:\[[^\]]*\])?\(`)
	// receiverHead names the receiver of a Go method.
	receiverHead = regexp.MustCompile(`^func\s*\(\s*(\w+)\s+\*?\w+`)
	headPython   = regexp.MustCompile(`^\s*(?:async\s+)?def\s+(\w+)\s*\(`)
	headScript   = regexp.MustCompile(`\bfunction\s*\*?\s*(\w*)\s*\(|(?:\b([\w$]+)\s*[=:]\s*)?(?:async\s*)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\b[\w$]+)\s*(?::\s*[\w<>\[\] |.]+)?=>\s*\{?|^\s*(?:(?:async|static|public|private|protected|get|set|export|default|override)\s+)*([\w$]+)\s*\((?:[^;{]|\{[^}]*\})*\)\s*(?::\s*[^{;=]+)?\{\s*$`)
	headJava     = regexp.MustCompile(`^\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:(?:public|private|protected|static|final|synchronized|abstract|default|native)\s+)*(?:<[^>]+>\s+)?[\w<>\[\],.?]+(?:\s+[\w<>\[\],.?]+)*\s+(\w+)\s*\(`)
	notAHead     = wordSet("if for while switch catch return else do try with new throw function await typeof case synchronized")
	entryMark    = regexp.MustCompile(`^\s*@(?:\w+\.)*(?:route|get|post|put|patch|delete|websocket|head|api_view|action|RequestMapping|GetMapping|PostMapping|PutMapping|DeleteMapping|PatchMapping|MessageMapping|Path|GET|POST|PUT|DELETE|Get|Post|Put|Patch|Delete|Query|Mutation|KafkaListener|RabbitListener|JmsListener|SqsListener|StreamListener|Incoming|EventPattern|MessagePattern|SubscribeMessage|Process|QueryMapping|MutationMapping|SchemaMapping|command|task|shared_task|subscriber|expose|message_handler|csrf_exempt|require_POST|require_GET|require_http_methods|login_required|jwt_required)\b`)
	// entryHead is a head that shows that the arguments come from outside: the
	// request of a view, a message of a queue, a call of an RPC framework.
	entryHead = regexp.MustCompile(`^\s*(?:async\s+)?def\s+\w+\(\s*(?:self\s*,\s*)?request\b|\*?\w*pb\.\w+Request\b|\*connect\.Request|events\.\w+(?:Request|Event)\b|\bamqp\.Delivery|\*nats\.Msg|\*kafka\.Message|\*sarama\.ConsumerMessage|\bConsumerRecord<|\.(?:consume|subscribe|process)\([^{]*(?:=>|function)|eachMessage|\.on\(\s*["'](?:message|data|job|request)["']`)
	routeCall = regexp.MustCompile(`\.(?:get|post|put|patch|delete|all|use|route|on|once|command|register|addHook|Get|Post|Put|Patch|Delete|GET|POST|PUT|PATCH|DELETE|Handle|HandleFunc|HandlerFunc|Method|MethodFunc)\(\s*["'` + "`" + `\w.]`)
)

// functions finds the bodies of a file. Nested ones follow the outer one.
func functions(list []statement, bare []string, lang language) []function {
	var out []function
	for _, s := range list {
		name, ok := functionHead(s.bare, lang)
		if !ok {
			continue
		}
		f := function{name: name, first: s.first, head: s.first}
		if lang == langPython {
			f.last = indentEnd(bare, s)
		} else {
			f.last = braceEnd(bare, s)
		}
		if f.last < f.first {
			continue
		}
		for f.head > 0 && f.first-f.head < 8 {
			above := strings.TrimSpace(bare[f.head-1])
			if !strings.HasPrefix(above, "@") && (above != ")" || lang != langPython) {
				break
			}
			f.head--
		}
		f.entry = entryHead.MatchString(s.code)
		f.route = routeCall.MatchString(s.code)
		for i := f.head; i < f.first; i++ {
			f.entry = f.entry || entryMark.MatchString(bare[i])
		}
		f.params = parameters(s.bare, name, lang)
		if lang == langGo {
			if m := receiverHead.FindStringSubmatch(s.bare); m != nil {
				f.receiver = m[1]
			}
		}
		f.numbers = numbers(s.bare, f.params, lang)
		f.carriers = carriers(s.bare, &f, lang)
		out = append(out, f)
	}
	return out
}

func functionHead(bare string, lang language) (string, bool) {
	line, _, _ := strings.Cut(bare, "\n")
	switch lang {
	case langGo:
		if !strings.Contains(line, "func") {
			return "", false
		}
		m := headGo.FindStringSubmatch(bare)
		if m == nil || !strings.Contains(bare, "{") {
			return "", false
		}
		return m[1], true
	case langPython:
		if m := headPython.FindStringSubmatch(bare); m != nil {
			return m[1], true
		}
	case langScript:
		return scriptHead(bare, line)
	case langJava:
		trimmed := strings.TrimRight(bare, " \t\r\n")
		if !strings.HasSuffix(trimmed, "{") || !strings.Contains(trimmed, "(") {
			return "", false
		}
		m := headJava.FindStringSubmatch(bare)
		if m == nil || notAHead[m[1]] || notAHead[strings.Fields(trimmed)[0]] {
			return "", false
		}
		return m[1], true
	}
	return "", false
}

func scriptHead(bare, line string) (string, bool) {
	if !strings.Contains(bare, "function") && !strings.Contains(bare, "=>") && !strings.HasSuffix(strings.TrimRight(line, " \t\r"), "{") {
		return "", false
	}
	m := headScript.FindStringSubmatch(bare)
	if m == nil || !strings.Contains(bare, "{") {
		return "", false
	}
	for _, name := range m[1:] {
		if name != "" {
			return name, !notAHead[name]
		}
	}
	return "", true
}

func indentEnd(bare []string, s statement) int {
	own := indentOf(bare[s.first])
	last := s.last
	for i := s.last + 1; i < len(bare); i++ {
		if strings.TrimSpace(bare[i]) == "" {
			continue
		}
		if indentOf(bare[i]) <= own && !strings.HasPrefix(strings.TrimSpace(bare[i]), ")") {
			break
		}
		last = i
	}
	return last
}

func indentOf(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

func braceEnd(bare []string, s statement) int {
	depth, seen := 0, false
	for i := s.first; i < len(bare); i++ {
		for j := 0; j < len(bare[i]); j++ {
			switch bare[i][j] {
			case '{':
				depth++
				seen = true
			case '}':
				depth--
			}
		}
		if seen && depth <= 0 {
			return i
		}
		if !seen && i > s.last+1 {
			return s.last
		}
	}
	return len(bare) - 1
}

// parameters reads the identifiers of the first parenthesised list after the
// function's name. Types stay in for Java and Go; they match no local name.
func parameters(bare, name string, lang language) []string {
	start := 0
	if name != "" {
		if n := strings.Index(bare, name); n >= 0 {
			start = n + len(name)
		}
	} else if lang == langGo {
		if n := strings.Index(bare, "func"); n >= 0 {
			start = n
		}
	} else if n := strings.Index(bare, "=>"); n >= 0 {
		before := bare[:n]
		if m := strings.LastIndexByte(before, '('); m >= 0 {
			start = m
		} else {
			start = max(strings.LastIndexAny(strings.TrimRight(before, " "), " (,=")+1, 0)
		}
		return parameterNames(bare[start:n], lang)
	}
	open := strings.IndexByte(bare[start:], '(')
	if open < 0 {
		return nil
	}
	depth := 0
	for i := start + open; i < len(bare); i++ {
		switch bare[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return parameterNames(bare[start+open+1:i], lang)
		}
	}
	return parameterNames(bare[start+open+1:], lang)
}

var numberTypes = map[language]*regexp.Regexp{
	langGo:     regexp.MustCompile(`^\s+\*?(?:u?int\d*|bool|float\d+|uuid\.UUID|time\.\w+)\b`),
	langPython: regexp.MustCompile(`^\s*:\s*(?:Optional\[)?(?:int|float|bool|UUID|uuid\.UUID|date|datetime|Decimal)\b`),
	langScript: regexp.MustCompile(`^\??\s*:\s*(?:number|boolean|Date|bigint)\b`),
	langJava:   regexp.MustCompile(`\b(?:int|long|short|double|float|boolean|Integer|Long|Boolean|Double|UUID|LocalDate|Instant|Duration|BigDecimal)\s+$`),
}

var requestTypes = map[language]*regexp.Regexp{
	langGo:     regexp.MustCompile(`(\w+)\s+(?:\*http\.Request|\*gin\.Context|echo\.Context|\*fiber\.Ctx)\b`),
	langPython: regexp.MustCompile(`\b(request|environ)\b`),
	langJava:   regexp.MustCompile(`\b(?:HttpServletRequest|HttpExchange|ServerRequest|ContainerRequestContext|RoutingContext)\s+(\w+)`),
	langScript: regexp.MustCompile(`\b(\w+)\s*:\s*(?:Request|FastifyRequest|IncomingMessage|NextRequest)\b`),
}

var httpRoute = regexp.MustCompile(`\.(?:get|post|put|patch|delete|all|use|route)\(`)

// carriers lists the parameters that hold whole requests.
func carriers(head string, f *function, lang language) []string {
	if lang == langScript && f.route && httpRoute.MatchString(head) {
		return f.params
	}
	re := requestTypes[lang]
	if re == nil {
		return nil
	}
	var out []string
	for _, m := range re.FindAllStringSubmatch(head, -1) {
		if contains(f.params, m[1]) {
			out = appendNew(out, m[1])
		}
	}
	return out
}

// numbers lists the parameters that can hold numbers, dates and the like only.
func numbers(head string, params []string, lang language) []string {
	re := numberTypes[lang]
	if re == nil {
		return nil
	}
	var out []string
	for _, p := range params {
		for from := 0; ; {
			n := strings.Index(head[from:], p)
			if n < 0 {
				break
			}
			start, end := from+n, from+n+len(p)
			from = end
			if start > 0 && isIdentByte(head[start-1]) || end < len(head) && isIdentByte(head[end]) {
				continue
			}
			if lang == langJava && re.MatchString(head[:start]) || lang != langJava && re.MatchString(head[end:]) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

func parameterNames(list string, lang language) []string {
	var out []string
	for _, part := range splitTop(list) {
		part = strings.Trim(part, " \t\n\r(){}[]*&.")
		if lang == langPython || lang == langScript {
			part, _, _ = strings.Cut(part, "=")
			if !strings.Contains(part, ",") {
				part, _, _ = strings.Cut(part, ":")
			}
		}
		if strings.Contains(part, "http.ResponseWriter") || strings.Contains(part, "context.Context") || strings.Contains(part, "HttpServletResponse") {
			continue
		}
		words := strings.FieldsFunc(part, func(r rune) bool { return r > 127 || !isIdentByte(byte(r)) })
		switch {
		case len(words) == 0:
		case lang == langJava:
			out = appendNew(out, words[len(words)-1])
		case lang == langGo:
			out = appendNew(out, words[0])
		default:
			for _, w := range words {
				if !keywords[w] {
					out = appendNew(out, w)
				}
			}
		}
	}
	return out
}

func splitTop(list string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, list[start:i])
				start = i + 1
			}
		}
	}
	return append(out, list[start:])
}
