package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/ycbot/ycbot/internal/pattern"
)

// variables are the names that begin with YCBOT_ and that ycbot, its image and its Action read.
var variables = strings.Fields(`
	YCBOT_ADDR YCBOT_AGENTS_DIR YCBOT_ALLOW_INSTALLATIONS YCBOT_ALLOW_REPOS YCBOT_API_KEY YCBOT_APP_ID YCBOT_APP_PRIVATE_KEY
	YCBOT_APP_PRIVATE_KEY_FILE YCBOT_BASE_URL YCBOT_BLOBS YCBOT_BLOB_URL YCBOT_CLIENT_ID YCBOT_CLIENT_SECRET YCBOT_CONFIG YCBOT_DATA
	YCBOT_DEBUG YCBOT_DISK_FREE YCBOT_DISK_QUOTA YCBOT_EFFORT YCBOT_EXEC YCBOT_FAST_MODEL YCBOT_FETCH_HOSTS YCBOT_GITHUB_URL
	YCBOT_HEALTH_PORT YCBOT_HOME YCBOT_LOGIN YCBOT_METRICS_ADDR YCBOT_MODEL YCBOT_MODEL_IDLE YCBOT_PERMISSIONS YCBOT_PRICES
	YCBOT_PROVIDER YCBOT_PUBLIC_URL YCBOT_RELEASES YCBOT_RELEASES_PROTO YCBOT_RETENTION YCBOT_ROUTER YCBOT_RUN_DISK
	YCBOT_SESSION_KEY YCBOT_SESSION_KEY_PREVIOUS YCBOT_SETTINGS YCBOT_SETUP_ENV YCBOT_SMART_MODEL YCBOT_WEBHOOK_SECRET
	YCBOT_WEBHOOK_SECRET_PREVIOUS`)

// ofCluster are variables that Kubernetes sets in each container for a Service whose name
// begins with ycbot: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables.
var ofCluster = pattern.New(`^YCBOT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// Unknown says that ycbot reads no variable of this name, which begins with YCBOT_, and which
// one was likely meant; "" for any other name.
func Unknown(name string) string {
	if !strings.HasPrefix(strings.ToUpper(name), "YCBOT_") || slices.Contains(variables, name) || ofCluster.MatchString(name) {
		return ""
	}
	best, distance := "", 4
	for _, v := range variables {
		if d := levenshtein.ComputeDistance(strings.ToUpper(name), v); d < distance {
			best, distance = v, d
		}
	}
	if best != "" {
		return fmt.Sprintf("ycbot reads no variable %s; did you mean %s?", name, best)
	}
	return fmt.Sprintf("ycbot reads no variable %s", name)
}

// UnknownIn is what [Unknown] says of an environment, which is as os.Environ has it.
func UnknownIn(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if text := Unknown(name); text != "" {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
