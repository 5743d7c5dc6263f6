
(function(){"use strict";
var D=P.D,W=P.W,q=P.q,all=P.all;
function css(n){return getComputedStyle(document.documentElement).getPropertyValue(n).trim()}

function name(c){var t=q("title",c);if(t)c.setAttribute("aria-label",t.textContent)}
P.begin(function(){all(".cell").forEach(name);if(q("#unfolded"))q("#unfolded").textContent=""});

/* A rank that is chosen in the grid, the raster or the table: marked in all of them, with its series. */
var picked=-1,said="",codes=null,again=null;
function pick(r){picked=r;var p=q("path.picked"),d="",h=q("#hover"),name=r<0?"":"rank "+D.rank[r];
all(".cell").forEach(function(c){c.classList.toggle("picked",c.dataset.i!==undefined&&+c.dataset.i===r)});
all("#ranks tbody tr").forEach(function(t){t.classList.toggle("picked",r>=0&&t.cells[0].textContent===String(D.rank[r]))});
if(p&&codes){var f=p.dataset.frame.split(" ").map(Number),m=D.columns,on=false,y=0;
for(var c=0;r>=0&&c<m;c++){var k=codes[r*m+c];if(k){var v=k<2?0:D.least*Math.pow(D.ratio,k-2),s=Math.min(Math.max((v-f[4])/(f[5]-f[4]),0),1);
y=f[3]-s*(f[3]-f[2]);d+=(on?"L":"M")+(f[0]+c*(f[1]-f[0])/(m-1)).toFixed(1)+" "+y.toFixed(1)}on=!!k}
p.setAttribute("d",d);var t=q("text.picked");t.textContent=d?name:"";t.setAttribute("y",Math.max(y-7,10))}
said=r<0?"":name+(D.cost[r]===null?"":": "+D.cost[r]+" ms "+(P.lang()==="zh"?W[D.per]:D.perStep));if(h)h.textContent=said;if(again)again()}

/* Cells: keys walk them, hosts unfold. */
var out=q("#unfolded");
function show(c){var t=q("title",c),s=t?t.textContent:"",members=c.dataset.r,o=c.closest("#grid")?out:null;
if(members){var list=members.split(",").map(function(r){
return"rank "+D.rank[r]+(D.cost[r]===null?"":": "+D.cost[r]+" ms")});s+=" — "+list.join(", ")}
if(o)o.textContent=s;if(c.dataset.i!==undefined&&+c.dataset.i!==picked)pick(+c.dataset.i)}
["#grid","#links"].forEach(function(at){var cells=all(at+" .cell");cells.forEach(function(c,i){c.setAttribute("tabindex",i?"-1":"0");c.setAttribute("role","img");
name(c);
c.addEventListener("click",function(){show(c);c.focus()});c.addEventListener("focus",function(){show(c)});
c.addEventListener("keydown",function(e){var k=e.key,b=q("rect",c),x=+b.getAttribute("x"),y=+b.getAttribute("y"),best=null,far=1/0;
if(!/^Arrow/.test(k))return;cells.forEach(function(o){var r=q("rect",o),dx=r.getAttribute("x")-x,dy=r.getAttribute("y")-y,
ok=k==="ArrowRight"?dx>.1:k==="ArrowLeft"?dx<-.1:k==="ArrowDown"?dy>.1:dy<-.1,side=/Left|Right/.test(k)?Math.abs(dy):Math.abs(dx),
d=Math.abs(dx)+Math.abs(dy)+8*side;if(ok&&d<far){far=d;best=o}});
if(best){e.preventDefault();c.setAttribute("tabindex","-1");best.setAttribute("tabindex","0");best.focus()}})})});

P.sorts("#ranks table");
var index={};D.rank.forEach(function(r,i){index[r]=i});
all("#ranks tbody tr").forEach(function(t){t.onclick=function(){pick(index[t.cells[0].textContent])}});

/* The raster. */
var canvas=q("#canvas");
function draw(bytes){var n=D.rank.length,m=D.columns,h=Math.max(1,Math.min(14,Math.floor(360/n))),bands=n>24&&canvas.dataset.hosts?canvas.dataset.hosts.split("\n"):[],pad=n<=24?64:bands.length?100:0,
wide=canvas.clientWidth||1180,dpr=window.devicePixelRatio||1,high=Math.min(720,Math.max(n*h,60)),g=canvas.getContext("2d"),
off=document.createElement("canvas"),o,img,k=[0,1,2,3,4].map(function(i){return rgb(css("--k"+i))}),hit={};
D.hit.forEach(function(r){hit[r]=1});
/* More ranks than lines: a line holds the greatest of its ranks. */
var lines=Math.min(n,Math.floor(high*dpr)),i,c;off.width=m;off.height=lines;o=off.getContext("2d");img=o.createImageData(m,lines);
function at(r,col){var p=r*m+col,b=bytes[p>>1];return p&1?b>>4:b&15}
for(i=0;i<lines;i++){var a=Math.floor(i*n/lines),z=Math.max(a+1,Math.floor((i+1)*n/lines));
for(c=0;c<m;c++){var v=-1;for(var r=a;r<z;r++){var w=at(r,c);if(w<5&&w>v)v=w}
var p=(i*m+c)*4,col=v<0?[0,0,0,0]:k[v].concat(255);img.data[p]=col[0];img.data[p+1]=col[1];img.data[p+2]=col[2];img.data[p+3]=col[3]}}
o.putImageData(img,0,0);
canvas.style.height=high+"px";canvas.width=Math.round(wide*dpr);canvas.height=Math.round(high*dpr);g.scale(dpr,dpr);g.imageSmoothingEnabled=false;
g.drawImage(off,pad,0,wide-pad,high);
g.font="12px system-ui,sans-serif";g.textBaseline="middle";var last=-99;
bands.forEach(function(b,i){var from=parseInt(b,10)*high/n,to=i+1<bands.length?parseInt(bands[i+1],10)*high/n:high;
if(i){g.fillStyle=css("--bg");g.fillRect(0,from-.5,wide,1.5)}g.fillStyle=css("--soft");if(to-from>=11)g.fillText(b.slice(b.indexOf(" ")+1),0,(from+to)/2)});
D.rank.forEach(function(x,r){var y=(r+.5)*high/n;if(n<=24){g.fillStyle=css(hit[r]?"--hot":"--soft");g.fillText("rank "+x,0,y)}
else if(hit[r]){g.fillStyle=css("--hot");g.fillRect(pad,y-Math.max(1,high/n/2),wide-pad,1);if(y-last>13){last=y;g.fillText("rank "+x,pad+4,y<12?y+9:y-8-Math.max(0,high/n/2-1))}}});
if(picked>=0){var top=picked*high/n,tall=Math.max(high/n,3);g.strokeStyle=css("--ink");g.lineWidth=1.5;g.strokeRect(pad+.75,top-(tall-high/n)/2,wide-pad-1.5,tall);
if(n>24){g.fillStyle=css("--ink");g.fillText("rank "+D.rank[picked],pad+4,top<14?top+tall+9:top-8)}}
canvas.dataset.drawn="1";
function row(e){var b=canvas.getBoundingClientRect();return Math.min(Math.max(Math.floor((e.clientY-b.top)/b.height*n),0),n-1)}
canvas.onclick=function(e){pick(row(e))};
canvas.onkeydown=function(e){var k=e.key,r=k==="ArrowDown"?Math.min(picked+1,n-1):k==="ArrowUp"?Math.max(picked-1,0):k==="Home"?0:k==="End"?n-1:k==="Escape"?-1:null;
if(r!==null){e.preventDefault();pick(r)}};
canvas.onmousemove=function(e){var b=canvas.getBoundingClientRect(),r=Math.floor((e.clientY-b.top)/b.height*n),
c=Math.floor((e.clientX-b.left-pad)/(b.width-pad)*m),v=r>=0&&r<n&&c>=0&&c<m?at(r,c):15,names=["< 3 %","3–10 %","10–20 %","20–50 %","≥ 50 %"];
q("#hover").textContent=v<5?"rank "+D.rank[r]+": "+names[v]:""};
canvas.onmouseleave=function(){q("#hover").textContent=said}}
function inflate(text){return new Response(new Blob([Uint8Array.from(atob(text),function(c){return c.charCodeAt(0)})]).stream()
.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer().then(function(b){return new Uint8Array(b)})}
function rgb(s){var d=/^#(..)(..)(..)$/.exec(s);return d?[1,2,3].map(function(i){return parseInt(d[i],16)}):[128,128,128]}
if(canvas&&D.raster){if(window.DecompressionStream){inflate(D.raster).then(function(bytes){again=function(){draw(bytes)};again();
window.addEventListener("resize",again);
if(window.matchMedia)matchMedia("(prefers-color-scheme:dark)").addEventListener("change",again)});
if(D.own)inflate(D.own).then(function(bytes){codes=bytes;if(picked>=0)pick(picked)})}
else canvas.remove()}
})();
